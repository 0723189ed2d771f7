#include "run/clock_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "base/log.h"
#include "run/measure.h"

namespace passnet::run {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAuditedUs = 5 * kClockSlackUs;
constexpr int64_t kMostCalls = 2000;
constexpr int kComparisons = 3;
constexpr int kAudits = 3;  // that all must fail

/// What `calls` calls take.
Result<ClockComparison> read_clocks(const TimedGraph& graph, int64_t calls, const ClockAuditOptions& options) {
  const Turn turn(graph.worker, options.alone);
  const auto start = Clock::now();
  PASSNET_TRY(const Reply reply,
              graph.worker.ask({{"do", "read_clocks"}, {"id", graph.id}, {"calls", calls}}, {}, options.timeout));
  ClockComparison told;
  told.ours_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  return read_fields("read_clocks", [&]() -> Result<ClockComparison> {
    const auto times = reply.json.at("times_us").get<std::vector<double>>();
    if (times.size() != static_cast<size_t>(calls))
      return nonsense("read_clocks", fmt::format("{} times for {} calls", times.size(), calls));
    told.worker_us = std::accumulate(times.begin(), times.end(), 0.0);
    if (const auto device = reply.json.find("device_us"); device != reply.json.end())
      told.device_us = device->get<double>();
    return told;
  });
}

/// What n more calls take: what a request takes besides is in both, and cancels.
Result<ClockComparison> compare_clocks(const TimedGraph& graph, int64_t calls, const ClockAuditOptions& options) {
  PASSNET_TRY(const ClockComparison once, read_clocks(graph, calls, options));
  PASSNET_TRY(const ClockComparison twice, read_clocks(graph, 2 * calls, options));
  ClockComparison more{twice.ours_us - once.ours_us, twice.worker_us - once.worker_us, std::nullopt};
  if (once.device_us && twice.device_us) more.device_us = *twice.device_us - *once.device_us;
  return more;
}

double median(std::vector<double> values) {
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

Error clocks_differ(const ClockComparison& seen, int64_t calls, const std::string& worker) {
  const std::string device = seen.device_us ? fmt::format(", by its GPU's {:.1f} us", *seen.device_us) : "";
  return resource_error(
             fmt::format("the clocks of the {} and of passnet differ: {} calls took {:.1f} us by the clock that times "
                         "them{}, {:.1f} us by ours; expected: at most {:.0f} % or {:.0f} us apart (the median of {} "
                         "comparisons, {} times)",
                         worker, calls, seen.worker_us, device, seen.ours_us, 100 * kClockShare, kClockSlackUs,
                         kComparisons, kAudits))
      .with_failure("clock")
      .with_hint("its times cannot be believed: see what `passnet doctor` says of the clock, and evaluate again");
}

}  // namespace

bool clocks_agree(double ours_us, double other_us) {
  if (!std::isfinite(ours_us) || !std::isfinite(other_us)) return false;
  return std::abs(ours_us - other_us) <= std::max(kClockShare * std::max(ours_us, other_us), kClockSlackUs);
}

ClockComparison median_of(const std::vector<ClockComparison>& comparisons) {
  std::vector<double> ours, workers, devices;
  for (const ClockComparison& one : comparisons) {
    ours.push_back(one.ours_us);
    workers.push_back(one.worker_us);
    if (one.device_us) devices.push_back(*one.device_us);
  }
  ClockComparison middle{median(ours), median(workers), std::nullopt};
  if (devices.size() == comparisons.size()) middle.device_us = median(devices);
  return middle;
}

int64_t audited_calls(double usual_us) {
  if (!(usual_us > kAuditedUs / static_cast<double>(kMostCalls))) return kMostCalls;  // nan too
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(kAuditedUs / usual_us)));
}

Result<void> audit_clocks(const TimedGraph& graph, const ClockAuditOptions& options) {
  const int64_t calls = audited_calls(options.usual_us);
  ClockComparison seen;
  for (int audit = 0; audit < kAudits; ++audit) {
    std::vector<ClockComparison> comparisons;
    for (int i = 0; i < kComparisons; ++i) {
      PASSNET_TRY(const ClockComparison one, compare_clocks(graph, calls, options));
      comparisons.push_back(one);
    }
    seen = median_of(comparisons);
    log::debug(fmt::format("{}: {} calls took {:.1f} us by its clock, {:.1f} us by ours", options.worker, calls,
                           seen.worker_us, seen.ours_us));
    if (clocks_agree(seen.ours_us, seen.worker_us) && (!seen.device_us || clocks_agree(seen.ours_us, *seen.device_us)))
      return {};
  }
  return clocks_differ(seen, calls, options.worker);
}

}  // namespace passnet::run
