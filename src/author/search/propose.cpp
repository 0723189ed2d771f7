#include "author/search/propose.h"

#include <algorithm>
#include <limits>

#include "record/floor.h"

namespace passnet::author {

namespace {

constexpr size_t kMostProposals = 3;
// A model this simple is believed where it says that something is slower by half.
constexpr double kWorthMeasuring = 1.5;

// The speed of a machine that was not calibrated.
constexpr double kGpuGbPerS = 2000, kCpuGbPerS = 20;
constexpr double kGpuLaunchUs = 2, kCpuLaunchUs = 5;
// GPU: threads that keep memory busy, and ns of a step of one that waits for what it reads.
constexpr double kBusyThreads = 65536;
constexpr double kStepNs = 100;
// Reads that jump move several times the bytes that are needed.
constexpr double kJumps = 3;

double gb_per_s(const Machine& machine, int64_t bytes) {
  if (machine.speed.copies.empty()) return machine.on_gpu ? kGpuGbPerS : kCpuGbPerS;
  return record::floor_of(bytes, machine.speed.copies, std::numeric_limits<double>::max()).gb_per_s;
}

double kernel_us(const KernelShape& kernel, const Schedule& schedule, size_t graph, const Machine& machine) {
  const KernelShape::Numbers& numbers = kernel.by_graph[graph];
  const Launched made = launched(schedule, kernel, graph, machine.on_gpu);
  const double usual = machine.on_gpu ? kGpuLaunchUs : kCpuLaunchUs;
  const double launch_us = machine.speed.launch_us > 0 ? machine.speed.launch_us : usual;
  const double launches = made.parts > 1 ? static_cast<double>(kernel.splits_into) : 1;
  const double wanted = machine.on_gpu ? kBusyThreads : machine.threads;
  const double busy =
      std::clamp(static_cast<double>(made.workers) * static_cast<double>(made.pack) / wanted, 1e-4, 1.0);
  const double moved = static_cast<double>(numbers.bytes) * (kernel.tiles && !made.tiles ? kJumps : 1);
  double us = launches * launch_us + moved / (gb_per_s(machine, numbers.bytes) * 1e3) / busy;
  if (machine.on_gpu) {
    const double all = static_cast<double>(numbers.items) * static_cast<double>(std::max<int64_t>(1, numbers.steps));
    us += all / static_cast<double>(std::max<int64_t>(1, made.workers)) * kStepNs / 1e3;
  }
  return us;
}

/// Each changes one thing of the default.
std::vector<Proposal> known_proposals(bool on_gpu) {
  const auto with = [](const char* label, const auto& change) {
    Proposal made{label, {}, 0};
    change(made.schedule);
    return made;
  };
  std::vector<Proposal> all = {
      with("no tiles", [](Schedule& one) { one.tiles = false; }),
  };
  if (on_gpu) {
    all.push_back(with("rows are not split", [](Schedule& one) { one.split_blocks = 0; }));
    all.push_back(with("rows are split into more parts", [](Schedule& one) {
      one.split_blocks *= 4;
      one.split_share /= 4;
    }));
    all.push_back(with("more threads to a row", [](Schedule& one) { one.row_threads *= 8; }));
    all.push_back(with("fewer threads to a row", [](Schedule& one) { one.row_threads /= 8; }));
    all.push_back(with("a thread takes more elements", [](Schedule& one) { one.pack_threads /= 8; }));
    all.push_back(with("a thread takes fewer elements", [](Schedule& one) { one.pack_threads *= 8; }));
    return all;
  }
  all.push_back(with("more tasks", [](Schedule& one) { one.task_work /= 4; }));
  all.push_back(with("fewer tasks", [](Schedule& one) { one.task_work *= 4; }));
  all.push_back(with("a single task", [](Schedule& one) { one.tasks = 1; }));
  return all;
}

}  // namespace

double estimated_us(const std::vector<KernelShape>& kernels, const Schedule& schedule, size_t graph,
                    const Machine& machine) {
  double us = 0;
  for (const KernelShape& kernel : kernels) us += kernel_us(kernel, schedule, graph, machine);
  return us;
}

std::vector<Proposal> proposals(const std::vector<KernelShape>& kernels, size_t graph, const Machine& machine) {
  const auto decided = [&](const Schedule& schedule) {
    std::vector<Launched> all;
    for (const KernelShape& kernel : kernels) all.push_back(launched(schedule, kernel, graph, machine.on_gpu));
    return all;
  };
  const std::vector<Launched> usual = decided({});
  const double most = kWorthMeasuring * estimated_us(kernels, {}, graph, machine);
  std::vector<Proposal> found;
  for (Proposal& one : known_proposals(machine.on_gpu)) {
    if (decided(one.schedule) == usual) continue;
    one.estimated_us = estimated_us(kernels, one.schedule, graph, machine);
    if (one.estimated_us <= most) found.push_back(std::move(one));
  }
  std::ranges::stable_sort(found, {}, &Proposal::estimated_us);
  if (found.size() > kMostProposals) found.resize(kMostProposals);
  return found;
}

}  // namespace passnet::author
