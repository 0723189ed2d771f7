#include "run/measure/clock_audit.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>
#include <thread>
#include <vector>

#include "base/log.h"
#include "run/measure/measure.h"
#include "run/measure/thread_times.h"
#include "run/worker/ask.h"

namespace passnet::run {

namespace {

using Clock = std::chrono::steady_clock;

constexpr double kAuditedUs = 5 * kClockSlackUs;
constexpr double kMostAuditedUs = 50 * kClockSlackUs;  // a reading so long is not made longer
constexpr int64_t kMostCalls = 2000;
constexpr int kMostReadings = 20;
constexpr double kWaitedShare = 0.02;  // far less than kClockShare: calls that take long wait longer in all
// Before each next reading, once more for each one so far: what holds the processors may take as long as all readings in a row.
constexpr std::chrono::milliseconds kPause{5};
constexpr int kPatience = 4;  // readings until one counts in which a process waited long: in it a boast can hide

/// A worker's clock, and its GPU's where it has one, beside ours.
struct Readings {
  ClockReading worker;
  std::optional<ClockReading> device;
};

int64_t times_taken_off_a_processor() {
  rusage usage{};
  ::getrusage(RUSAGE_THREAD, &usage);
  return usage.ru_nivcsw;
}

/// What this process waits for a processor until the worker has one, and after it was answered.
class Waits {
 public:
  explicit Waits(const Worker& worker)
      : worker_(worker.pids()),
        workers_(read_thread_times(worker_)),
        own_(read_own_thread_time()),
        taken_off_(times_taken_off_a_processor()) {}

  /// Since this was made, us. None where this process was taken off its processor: then it need not have waited for
  /// anything, as the calls may have run meanwhile. That is looked at first, as reading the rest takes time.
  double us() const {
    const bool taken_off = times_taken_off_a_processor() != taken_off_;
    const auto own = read_own_thread_time(), workers = read_thread_times(worker_);
    if (taken_off || !own_ || !own || !workers_ || !workers) return 0;
    const auto waited = waited_for_others(*own_, *own) + waited_for_others(*workers_, *workers);
    return std::chrono::duration<double, std::micro>(waited).count();
  }

 private:
  std::vector<pid_t> worker_;  // and its cells
  std::optional<std::vector<ThreadTime>> workers_, own_;
  int64_t taken_off_;
};

Result<Readings> read_clocks(const TimedGraph& graph, int64_t calls, const ClockAuditOptions& options) {
  const Turn turn(graph.worker, options.alone);
  const Waits waits(graph.worker);
  const auto start = Clock::now();
  PASSNET_TRY(const protocol::Answer<protocol::ReadClocks> answer,
              ask(graph.worker, protocol::ReadClocks{graph.id, calls}, options.timeout));
  const double ours_us = std::chrono::duration<double, std::micro>(Clock::now() - start).count();
  const double waited_us = waits.us();
  Readings readings;
  readings.worker = {ours_us, answer.reply.calls_us, waited_us, calls};
  if (answer.reply.device_us) readings.device = {ours_us, *answer.reply.device_us, waited_us, calls};
  return readings;
}

Error clocks_differ(const ClockReading& seen, const std::string& whose) {
  const std::string readings = tells_too_much(seen) ? "" : fmt::format(" (the best of {} readings)", kMostReadings);
  return resource_error(
             fmt::format("the clocks of the {} and of passnet differ: {} calls took {:.1f} us by the clock that times "
                         "them, {:.1f} us by ours, {:.1f} us of it waiting for a processor; expected: at most {:.0f} "
                         "% or {:.0f} us apart{}",
                         whose, seen.calls, seen.other_us, seen.ours_us, seen.waited_us, 100 * kClockShare,
                         kClockSlackUs, readings))
      .with_failure("clock")
      .with_hint("its times cannot be believed: see what `passnet doctor` says of the clock, and evaluate again");
}

/// What passed, less what is known to be no call's: what the other clock should tell at least.
double expected_us(const ClockReading& reading) { return reading.ours_us - reading.waited_us; }

double bound_us(double one_us, double other_us) {
  return std::max(kClockShare * std::max(one_us, other_us), kClockSlackUs);
}

/// How much the other clock lacks, of what it may lack.
double lacks_of_bound(const ClockReading& reading) {
  return (expected_us(reading) - reading.other_us) / bound_us(expected_us(reading), reading.other_us);
}

bool waited_long(const ClockReading& reading) {
  return reading.waited_us > std::max(kClockSlackUs, kWaitedShare * reading.ours_us);
}

/// Reads the clocks over `calls` calls until they agree.
Result<void> audit_over(const TimedGraph& graph, int64_t calls, const ClockAuditOptions& options) {
  // Of each clock, the reading in which it lacks least: machines disturb the two at different times.
  std::optional<ClockReading> worker, device;
  const auto keep_best = [](std::optional<ClockReading>& best, const ClockReading& reading) {
    if (!best || lacks_of_bound(reading) < lacks_of_bound(*best)) best = reading;
  };
  double read_us = 0;
  for (int i = 0; i < kMostReadings && read_us < kMostAuditUs; ++i) {
    std::this_thread::sleep_for(i * kPause);
    PASSNET_TRY(const Readings readings, read_clocks(graph, calls, options));
    log::debug(fmt::format("{}: {} calls took {:.1f} us by its clock, {:.1f} us by ours, of which {:.1f} us waiting",
                           options.worker, calls, readings.worker.other_us, readings.worker.ours_us,
                           readings.worker.waited_us));
    read_us += readings.worker.ours_us;
    if (tells_too_much(readings.worker)) return clocks_differ(readings.worker, options.worker);
    keep_best(worker, readings.worker);
    if (readings.device) {
      if (tells_too_much(*readings.device)) return clocks_differ(*readings.device, options.worker + "'s GPU");
      keep_best(device, *readings.device);
    }
    if (waited_long(readings.worker) && i < kPatience) continue;
    if (!tells_too_little(*worker) && !(device && tells_too_little(*device))) return {};
    // What a request takes besides its calls is as much for more of them: a clock that runs slow lacks more then.
    if (readings.worker.ours_us < kMostAuditedUs) calls = std::min(2 * calls, kMostCalls);
  }
  if (tells_too_little(*worker)) return clocks_differ(*worker, options.worker);
  if (device && tells_too_little(*device)) return clocks_differ(*device, options.worker + "'s GPU");
  return {};
}

}  // namespace

bool tells_too_much(const ClockReading& reading) {
  return !std::isfinite(reading.other_us) ||
         reading.other_us - reading.ours_us > bound_us(reading.ours_us, reading.other_us);
}

bool tells_too_little(const ClockReading& reading) { return lacks_of_bound(reading) > 1; }

int64_t audited_calls(double usual_us, double ours_us) {
  const bool says_something = usual_us > kAuditedUs / static_cast<double>(kMostCalls);  // nan does not
  const double wanted = says_something ? std::ceil(kAuditedUs / usual_us) : static_cast<double>(kMostCalls);
  // They are made once, and then twice as many.
  return std::max<int64_t>(1, static_cast<int64_t>(std::min(wanted, kMostAuditUs / 4 / std::max(ours_us, 1.0))));
}

Result<void> audit_clocks(const TimedGraph& graph, const ClockAuditOptions& options) {
  PASSNET_TRY(const Readings of_one, read_clocks(graph, 1, options));
  const int64_t calls = audited_calls(options.usual_us, of_one.worker.ours_us);
  PASSNET_TRY_VOID(audit_over(graph, calls, options));
  return audit_over(graph, 2 * calls, options);
}

}  // namespace passnet::run
