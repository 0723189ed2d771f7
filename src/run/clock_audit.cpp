#include "run/clock_audit.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>
#include <optional>

#include "base/log.h"
#include "run/measure.h"
#include "run/thread_times.h"

namespace passnet::run {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAuditedUs = 5 * kClockSlackUs;
constexpr int64_t kMostCalls = 2000;
constexpr size_t kReadings = 2;
constexpr int kMostReadings = 20;  // of n calls, and as many of 2n
constexpr int kPatience = 4;       // readings until unsure ones count

/// A worker's clock, and its GPU's where it has one, beside ours.
struct Readings {
  std::vector<ClockReading> worker, device;
  /// Readings in which this process waited long for a processor, what it waited taken out. They tell little, as the calls
  /// may have run meanwhile: they count where there are no others.
  Readings* unsure = nullptr;
};
constexpr double kUnsureUs = kClockSlackUs / 4;

/// What this process waited for a processor since then, us: that is in our clock and in no other.
double waited_us(const std::optional<std::vector<ThreadTime>>& before) {
  const auto now = read_own_thread_time();
  if (!before || !now) return 0;
  return std::chrono::duration<double, std::micro>(waited_for_others(*before, *now)).count();
}

/// Without it, but no less than the other clock says: while we waited the worker may have been at its calls.
ClockReading reading_of(double ours_us, double waited_us, double other_us) {
  return {std::max(ours_us - waited_us, std::min(ours_us, other_us)), other_us};
}

/// Adds what `calls` calls take.
Result<void> read_clocks(const TimedGraph& graph, int64_t calls, const ClockAuditOptions& options, Readings& readings) {
  const Turn turn(graph.worker, options.alone);
  const auto before = read_own_thread_time();
  const auto start = Clock::now();
  PASSNET_TRY(const Reply reply,
              graph.worker.ask({{"do", "read_clocks"}, {"id", graph.id}, {"calls", calls}}, {}, options.timeout));
  const double ours_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  const double waited = waited_us(before);
  return read_fields("read_clocks", [&]() -> Result<void> {
    const auto times = reply.json.at("times_us").get<std::vector<double>>();
    if (times.size() != static_cast<size_t>(calls))
      return nonsense("read_clocks", fmt::format("{} times for {} calls", times.size(), calls));
    Readings& kept = waited > kUnsureUs ? *readings.unsure : readings;
    kept.worker.push_back(reading_of(ours_us, waited, std::accumulate(times.begin(), times.end(), 0.0)));
    if (const auto device = reply.json.find("device_us"); device != reply.json.end())
      kept.device.push_back(reading_of(ours_us, waited, device->get<double>()));
    return {};
  });
}

Error clocks_differ(const ClockReading& seen, const std::string& whose, int64_t calls) {
  return resource_error(
             fmt::format("the clocks of the {} and of passnet differ: {} calls took {:.1f} us by the clock that times "
                         "them, {:.1f} us by ours; expected: at most {:.0f} % or {:.0f} us apart (the best of {} "
                         "readings)",
                         whose, calls, seen.other_us, seen.ours_us, 100 * kClockShare, kClockSlackUs, kMostReadings))
      .with_failure("clock")
      .with_hint("its times cannot be believed: see what `passnet doctor` says of the clock, and evaluate again");
}

/// Where our clock has the least that is not in the other; one that is no number is no less than any.
const ClockReading& quietest(const std::vector<ClockReading>& readings) {
  return *std::ranges::min_element(readings, {}, [](const ClockReading& one) { return one.ours_us - one.other_us; });
}

}  // namespace

bool clocks_agree(const ClockReading& more) {
  if (!std::isfinite(more.ours_us) || !std::isfinite(more.other_us)) return false;
  return std::abs(more.ours_us - more.other_us) <=
         std::max(kClockShare * std::max(more.ours_us, more.other_us), kClockSlackUs);
}

ClockReading more_calls(const std::vector<ClockReading>& of_n, const std::vector<ClockReading>& of_2n) {
  const ClockReading &once = quietest(of_n), &twice = quietest(of_2n);
  return {twice.ours_us - once.ours_us, twice.other_us - once.other_us};
}

int64_t audited_calls(double usual_us) {
  if (!(usual_us > kAuditedUs / static_cast<double>(kMostCalls))) return kMostCalls;  // nan too
  return std::max<int64_t>(1, static_cast<int64_t>(std::ceil(kAuditedUs / usual_us)));
}

Result<void> audit_clocks(const TimedGraph& graph, const ClockAuditOptions& options) {
  const int64_t calls = audited_calls(options.usual_us);
  Readings unsure_once, unsure_twice;
  Readings once{{}, {}, &unsure_once}, twice{{}, {}, &unsure_twice};
  for (int i = 1;; ++i) {
    PASSNET_TRY_VOID(read_clocks(graph, calls, options, once));
    PASSNET_TRY_VOID(read_clocks(graph, 2 * calls, options, twice));
    const size_t sure = std::min(once.worker.size(), twice.worker.size());
    if (sure < kReadings && i < kPatience) continue;
    const Readings& of_n = once.worker.empty() ? unsure_once : once;
    const Readings& of_2n = twice.worker.empty() ? unsure_twice : twice;
    if (of_n.device.empty() != of_2n.device.empty()) return nonsense("read_clocks", "the GPU's clock comes and goes");
    const ClockReading seen = more_calls(of_n.worker, of_2n.worker);
    log::debug(fmt::format("{}: {} calls took {:.1f} us by its clock, {:.1f} us by ours", options.worker, calls,
                           seen.other_us, seen.ours_us));
    const std::optional<ClockReading> device =
        of_n.device.empty() ? std::nullopt : std::optional(more_calls(of_n.device, of_2n.device));
    const bool worker_agrees = clocks_agree(seen), device_agrees = !device || clocks_agree(*device);
    if (worker_agrees && device_agrees) return {};
    if (i < kMostReadings) continue;
    return worker_agrees ? clocks_differ(*device, options.worker + "'s GPU", calls)
                         : clocks_differ(seen, options.worker, calls);
  }
}

}  // namespace passnet::run
