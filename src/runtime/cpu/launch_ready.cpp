#include "runtime/cpu/launch_ready.h"

#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

namespace {
/// A launch over less memory than this runs on the caller alone: sharing it costs more than it saves.
constexpr int64_t kInlineBytes = 32 << 10;
constexpr int64_t kInlineBytesAsleep = 160 << 10;
}  // namespace

LaunchReady::LaunchReady(const pass::Launch& launch, passnet_run_fn run) : run_(run) {
  for (size_t axis = 0; axis < 3; ++axis) {
    launch_.grid[axis] = axis < launch.grid.size() ? launch.grid[axis] : 1;
    tasks_ *= launch_.grid[axis];
  }
  for (const pass::LaunchArg& arg : launch.args) {
    passnet_arg value{};
    if (const auto* view = std::get_if<pass::View>(&arg)) {
      pointers_.push_back(
          {static_cast<uint32_t>(args_.size()), view->buffer, view->offset * ir::size_bytes(view->type.dtype)});
      bytes_ += extent_bytes(view->type);
    } else if (const auto* integer = std::get_if<int64_t>(&arg)) {
      value.integer = *integer;
    } else if (const auto* real = std::get_if<double>(&arg)) {
      value.real = *real;
    } else {
      value.integer = std::get<bool>(arg);
    }
    args_.push_back(value);
  }
}

void LaunchReady::run_tasks(void* context, int64_t first, int64_t last) {
  const auto* ready = static_cast<const LaunchReady*>(context);
  ready->run_(&ready->launch_, first, last);
}

void LaunchReady::run(ThreadPool& pool, char* const* buffers) {
  for (const Pointer& pointer : pointers_) args_[pointer.arg].pointer = buffers[pointer.buffer] + pointer.offset_bytes;
  launch_.args = args_.data();
  if (bytes_ >= (pool.awake() ? kInlineBytes : kInlineBytesAsleep)) {
    pool.run(tasks_, run_tasks, this);
  } else if (tasks_ > 0) {
    run_tasks(this, 0, tasks_);
  }
}

}  // namespace passnet::runtime
