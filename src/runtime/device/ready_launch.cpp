#include "runtime/device/ready_launch.h"

#include "runtime/tensor/dtype.h"

namespace passnet::runtime {

ReadyLaunch make_ready(const pass::Launch& launch) {
  ReadyLaunch ready;
  for (size_t axis = 0; axis < launch.grid.size(); ++axis) {
    ready.grid[axis] = launch.grid[axis];
    ready.tasks *= launch.grid[axis];
  }
  for (const pass::LaunchArg& arg : launch.args) {
    passnet_arg value{};
    if (const auto* view = std::get_if<pass::View>(&arg)) {
      ready.pointers.push_back(
          {static_cast<uint32_t>(ready.args.size()), view->buffer, view->offset * ir::size_bytes(view->type.dtype)});
      ready.bytes += extent_bytes(view->type);
    } else if (const auto* integer = std::get_if<int64_t>(&arg)) {
      value.integer = *integer;
    } else if (const auto* real = std::get_if<double>(&arg)) {
      value.real = *real;
    } else {
      value.integer = std::get<bool>(arg);
    }
    ready.args.push_back(value);
  }
  return ready;
}

}  // namespace passnet::runtime
