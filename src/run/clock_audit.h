// Whether a worker's clock runs as ours does. A worker times its own calls; this process, which knows when it asked and
// when it was answered, asks for n calls and for 2n, and compares what the additional n took by both clocks.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"

namespace passnet::run {

struct TimedGraph;

/// How far apart two clocks may be over the same calls: the larger of the two. What is not in the worker's clock (a
/// loop, reading the clock, a reply that is longer) is far below; what is asked of the scheduler twice and happens once
/// (a wake-up, a turn that another process takes) is why it is not less. A clock that tells a half or the double is
/// beyond it by far.
inline constexpr double kClockShare = 0.25;
inline constexpr double kClockSlackUs = 200;

/// What some calls took by the clock of this process, around the request, and by another one, around the calls.
struct ClockReading {
  double ours_us = 0, other_us = 0;
};
bool clocks_agree(const ClockReading& more);

/// What n more calls took, from several readings of n calls and of 2n. What else a request takes (waking up, a turn that
/// another process has) is in our clock alone and can only add: of each, the reading counts that has the least of it.
/// REQUIRES: there is one of each.
ClockReading more_calls(const std::vector<ClockReading>& of_n, const std::vector<ClockReading>& of_2n);

/// How many calls are compared: so many that they take several times kClockSlackUs by the worker's word, but no more than
/// a worker that says 0 could use to keep us waiting.
int64_t audited_calls(double usual_us);

struct ClockAuditOptions {
  std::string worker;   // "candidate", for messages
  double usual_us = 0;  // of a call, as the worker told
  bool alone = false;   // the worker is Stopped but for this
  std::chrono::milliseconds timeout{60000};
};

/// Compares the clocks of the worker that `graph` is loaded on with ours: two readings of each, and more if they
/// disagree, as a machine that does other work can make them seem to.
/// Errors: of the worker; "clock": they differ, by all readings.
Result<void> audit_clocks(const TimedGraph& graph, const ClockAuditOptions& options);

}  // namespace passnet::run
