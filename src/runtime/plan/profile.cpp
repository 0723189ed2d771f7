#include "runtime/plan/profile.h"

#include <ATen/core/Tensor.h>
#include <ATen/ops/empty.h>

#include <algorithm>
#include <chrono>
#include <map>
#include <optional>

#include "ir/ops/table.h"
#include "record/stats.h"
#include "runtime/tensor/placement.h"

namespace passnet::runtime {

namespace {

using Clock = std::chrono::steady_clock;
constexpr int kCopies = 15, kSettlingCopies = 3;

double us_since(Clock::time_point start) {
  return std::chrono::duration<double, std::micro>(Clock::now() - start).count();
}

/// us of `run` by the device's own clock; run may be called several times.
double time_us(Device& device, const std::function<void()>& run) {
  const std::unique_ptr<CallClock> clock = device.make_clock();
  while (true) {
    clock->start();
    run();
    if (const std::optional<double> us = clock->stop()) return *us;
  }
}

double median(const std::vector<double>& times) { return record::summarize(times).median; }

/// Median us of copying bytes / 2 from one tensor to another, again and again as a graph in a loop would.
double copy_us(Device& device, int64_t bytes) {
  const at::TensorOptions floats = at::TensorOptions(at::kFloat).device(graph_device());
  const int64_t elements = std::max<int64_t>(1, bytes / 2 / 4);
  const at::Tensor from = at::empty({elements}, floats).zero_(), to = at::empty({elements}, floats);
  std::vector<double> times;
  for (int i = 0; i < kSettlingCopies + kCopies; ++i) {
    const double us = time_us(device, [&] { to.copy_(from); });
    if (i >= kSettlingCopies) times.push_back(us);
  }
  return median(times);
}

using LaunchKey = std::pair<size_t, size_t>;

/// The times of one call, by what they are of.
struct Samples {
  std::map<LaunchKey, std::vector<double>> launches;
  std::map<std::string, std::vector<double>, std::less<>> nodes;
  std::vector<double> calls;
};

Result<void> run_once(Plan& plan, Samples& samples) {
  const bool on_gpu = graph_device().is_cuda();
  const auto start = Clock::now();
  auto last = start;
  const Plan::NodeVisitor visit = [&](const ir::Node& node, const c10::IValue&) {
    if (on_gpu) return;
    const bool computes = node.kind != ir::NodeKind::Placeholder && node.target != ir::kFusedTarget;
    if (computes) samples.nodes[std::string(node.name)].push_back(us_since(last));
    last = Clock::now();
  };
  PASSNET_TRY_VOID(plan.run_visiting(visit));
  samples.calls.push_back(us_since(start));
  return {};
}

}  // namespace

int64_t bytes_of(const pass::LaunchList& list, const pass::Launch& launch) {
  std::map<uint32_t, int64_t> by_buffer;
  for (const pass::LaunchArg& arg : launch.args) {
    if (const auto* view = std::get_if<pass::View>(&arg)) by_buffer[view->buffer] += view->type.size_bytes();
  }
  int64_t bytes = 0;
  for (const auto& [buffer, of_views] : by_buffer) bytes += std::min(of_views, list.buffers[buffer].type.size_bytes());
  return bytes;
}

Result<protocol::CallProfile> profile_calls(Plan& plan, FusedLibrary& fused, int calls,
                                            const std::function<void()>& prepare) {
  Samples samples;
  const auto timed = [&](size_t list, size_t launch, const std::function<void()>& run) {
    samples.launches[{list, launch}].push_back(time_us(fused.device(), run));
  };
  for (int i = -1; i < calls; ++i) {
    prepare();
    fused.around_launch = timed;
    const Result<void> ran = run_once(plan, samples);
    fused.around_launch = nullptr;
    plan.release();
    if (!ran) return ran.error();
    if (i < 0) samples = {};  // the first call pays for what the others find done
  }
  protocol::CallProfile profile;
  profile.call_us = median(samples.calls);
  std::map<int64_t, double> bounds;  // by bytes
  for (const auto& [key, times] : samples.launches) {
    const pass::LaunchList& list = fused.list(key.first).launches;
    const int64_t bytes = bytes_of(list, list.launches[key.second]);
    if (!bounds.contains(bytes)) bounds[bytes] = copy_us(fused.device(), bytes);
    profile.launches.push_back({key.first, key.second, median(times), bytes, bounds[bytes]});
  }
  for (const auto& [node, times] : samples.nodes) profile.others.push_back({node, median(times)});
  return profile;
}

}  // namespace passnet::runtime
