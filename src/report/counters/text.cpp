#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <functional>
#include <optional>
#include <utility>

#include "base/text/strings.h"
#include "report/counters/counters.h"

namespace passnet::report {

namespace {

constexpr const char* kTime = "gpu__time_duration.sum";
constexpr const char* kMemory = "gpu__compute_memory_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kDram = "gpu__dram_throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kRead = "dram__bytes_read.sum";
constexpr const char* kWritten = "dram__bytes_write.sum";
constexpr const char* kL2 = "lts__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kL2Hits = "lts__t_sector_hit_rate.pct";
constexpr const char* kL1 = "l1tex__throughput.avg.pct_of_peak_sustained_active";
constexpr const char* kCompute = "sm__throughput.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kTensor = "sm__pipe_tensor_cycles_active.avg.pct_of_peak_sustained_elapsed";
constexpr const char* kWarps = "sm__warps_active.avg.pct_of_peak_sustained_active";
constexpr const char* kMostWarps = "sm__maximum_warps_per_active_cycle_pct";
constexpr const char* kWaves = "launch__waves_per_multiprocessor";
constexpr const char* kRegisters = "launch__registers_per_thread";
constexpr const char* kShared = "launch__shared_mem_per_block";

/// From here on Nsight Compute calls a kernel bound by compute or memory.
constexpr double kBoundPercent = 60;

/// Why a warp does not issue, by ncu's word.
struct Stall {
  const char* reason;
  const char* what;
  const char* advice;
};
constexpr std::array<Stall, 13> kStalls = {{
    {"long_scoreboard", "waiting for device memory or L2",
     "load more at a time (vectors of 16 bytes), several loads before the first use; reuse by shared memory"},
    {"short_scoreboard", "waiting for shared memory or special functions",
     "avoid bank conflicts; fewer divisions, exponentials and the like"},
    {"barrier", "waiting at a barrier", "fewer __syncthreads, or blocks of fewer warps"},
    {"mio_throttle", "queue of shared memory and special functions full",
     "wider accesses to shared memory, shuffles in place of it"},
    {"lg_throttle", "queue of loads and stores full", "fewer and wider loads and stores"},
    {"math_pipe_throttle", "arithmetic unit busy", "fewer operations, or another kind: tensor cores for products"},
    {"gmma", "waiting for tensor cores", "larger tiles, and loads that run beside them"},
    {"wait", "fixed latency of arithmetic", "more independent operations a thread"},
    {"not_selected", "ready, another warp was chosen", "enough warps: have each do more"},
    {"no_instruction", "waiting for instructions",
     "shorter code: less unrolling, more calls' worth of work per launch"},
    {"imc_miss", "waiting for constants", "fewer distinct constants and parameters"},
    {"drain", "waiting for stores to finish", "wider stores; stores spread over the kernel"},
    {"membar", "waiting at a memory fence", "fewer fences and atomics"},
}};

std::string stall_name(std::string_view reason) {
  return fmt::format("smsp__average_warps_issue_stalled_{}_per_issue_active.ratio", reason);
}

struct Limit {
  const char* name;
  const char* what;
};
constexpr std::array<Limit, 4> kLimits = {{{"launch__occupancy_limit_registers", "registers"},
                                           {"launch__occupancy_limit_shared_mem", "shared memory"},
                                           {"launch__occupancy_limit_warps", "threads a block"},
                                           {"launch__occupancy_limit_blocks", "blocks a multiprocessor"}}};

class Figures {
 public:
  explicit Figures(const KernelCounters& launch) : launch_(launch) {}

  std::optional<double> get(std::string_view name) const {
    const auto found = launch_.metrics.find(name);
    return found == launch_.metrics.end() ? std::nullopt : std::optional(found->second);
  }
  /// 0: there is none.
  double at(std::string_view name) const { return get(name).value_or(0); }

 private:
  const KernelCounters& launch_;
};

/// The stalls of a kernel, the longest first.
std::vector<std::pair<double, const Stall*>> stalls_of(const Figures& figures) {
  std::vector<std::pair<double, const Stall*>> stalls;
  for (const Stall& stall : kStalls) {
    if (const double cycles = figures.at(stall_name(stall.reason)); cycles > 0) stalls.emplace_back(cycles, &stall);
  }
  std::ranges::stable_sort(stalls, std::greater<>(), &std::pair<double, const Stall*>::first);
  return stalls;
}

struct Bound {
  std::string by, advice;
};

Bound bound_of(const Figures& figures) {
  const double memory = figures.at(kMemory), compute = figures.at(kCompute);
  if (figures.get(kWaves) && figures.at(kWaves) < 0.5)
    return {"too few blocks: most multiprocessors have nothing to do",
            "launch more blocks: smaller ones, or rows split among several"};
  if (memory >= kBoundPercent && memory >= compute) {
    if (figures.at(kDram) >= kBoundPercent)
      return {"device memory", "move fewer bytes: fuse with neighbours, narrower types, read every input once"};
    return {figures.at(kL2) >= figures.at(kL1) ? "the L2 cache" : "the L1 cache and shared memory",
            "neighbouring threads at neighbouring addresses, wider accesses, values kept in registers"};
  }
  if (compute >= kBoundPercent) {
    if (figures.at(kTensor) >= kBoundPercent) return {"tensor cores", "it is near the peak for products"};
    return {"arithmetic",
            "fewer operations a result; products on tensor cores, fast_ functions where exact ones are not needed"};
  }
  const auto stalls = stalls_of(figures);
  if (stalls.empty()) return {"latency: neither memory nor arithmetic is busy", "more work in flight"};
  return {fmt::format("latency: {}", stalls.front().second->what), stalls.front().second->advice};
}

std::string percent(const Figures& figures, const char* name) {
  const auto value = figures.get(name);
  return value ? fmt::format("{:.0f} % of peak", *value) : "no data";
}

std::string us(const Figures& figures) { return fmt::format("{:.1f} us", figures.at(kTime) / 1000); }

std::string memory_line(const Figures& figures) {
  const double bytes = figures.at(kRead) + figures.at(kWritten), ns = figures.at(kTime);
  return fmt::format("{}: {} read, {} written, {:.0f} GB/s", percent(figures, kDram), bytes_text(figures.at(kRead)),
                     bytes_text(figures.at(kWritten)), ns > 0 ? bytes / ns : 0);
}

/// How many warps there are, and what keeps them from being more.
std::string occupancy_line(const Figures& figures) {
  const Limit* least = nullptr;
  for (const Limit& limit : kLimits) {
    if (figures.get(limit.name) && (least == nullptr || figures.at(limit.name) < figures.at(least->name)))
      least = &limit;
  }
  std::string text =
      fmt::format("{:.0f} % of the warps that fit, {:.0f} % possible", figures.at(kWarps), figures.at(kMostWarps));
  if (least != nullptr)
    text += fmt::format("; {} limit it to {} a multiprocessor", least->what,
                        counted(static_cast<size_t>(figures.at(least->name)), "block"));
  return text;
}

std::string worst_text(const KernelCounters& launch) {
  const Figures figures(launch);
  const Bound bound = bound_of(figures);
  std::string text = fmt::format("kernel {}, {}, grid {}, block {}{}\n", launch.kernel, us(figures), launch.grid,
                                 launch.block, launch.device.empty() ? "" : ", " + launch.device);
  text += fmt::format("bound by {}\nnext: {}\n", bound.by, bound.advice);
  text += fmt::format("  device memory  {}\n", memory_line(figures));
  text += fmt::format("  L2             {}, {:.0f} % hits\n", percent(figures, kL2), figures.at(kL2Hits));
  text += fmt::format("  L1, shared     {}\n", percent(figures, kL1));
  text += fmt::format("  arithmetic     {}; tensor cores {}\n", percent(figures, kCompute), percent(figures, kTensor));
  text += fmt::format("  occupancy      {}\n", occupancy_line(figures));
  text += fmt::format("  launch         {:.2f} waves, {:.0f} registers a thread, {} of shared memory a block\n",
                      figures.at(kWaves), figures.at(kRegisters), bytes_text(figures.at(kShared)));
  const auto stalls = stalls_of(figures);
  for (size_t i = 0; i < std::min<size_t>(stalls.size(), 4); ++i)
    text += fmt::format("  stall          {:.1f} cycles an instruction: {} ({})\n", stalls[i].first,
                        stalls[i].second->what, stalls[i].second->reason);
  return text;
}

}  // namespace

std::string counter_names() {
  std::string names;
  for (const char* name : {kTime, kMemory, kDram, kRead, kWritten, kL2, kL2Hits, kL1, kCompute, kTensor, kWarps,
                           kMostWarps, kWaves, kRegisters, kShared})
    names += std::string(name) + ",";
  for (const Limit& limit : kLimits) names += std::string(limit.name) + ",";
  for (const Stall& stall : kStalls) names += stall_name(stall.reason) + ",";
  names.pop_back();
  return names;
}

std::string counters_text(const std::vector<KernelCounters>& launches) {
  std::vector<const KernelCounters*> order;
  for (const KernelCounters& one : launches) order.push_back(&one);
  std::ranges::stable_sort(order, std::greater<>(), [](const KernelCounters* one) { return Figures(*one).at(kTime); });
  if (order.empty()) return "";
  std::string text = worst_text(*order.front());
  constexpr size_t kMostOthers = 6;
  for (size_t i = 1; i < std::min(order.size(), kMostOthers + 1); ++i)
    text +=
        fmt::format("{}, {}: bound by {}\n", us(Figures(*order[i])), order[i]->kernel, bound_of(Figures(*order[i])).by);
  if (order.size() > kMostOthers + 1) text += fmt::format("{} more launches\n", order.size() - kMostOthers - 1);
  return text;
}

}  // namespace passnet::report
