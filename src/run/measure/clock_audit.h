// Whether a worker's clock runs as ours does. A worker times its own calls; this process, which knows when it asked and
// when it was answered, asks for n calls and for 2n, and compares each with a clock of its own.
#pragma once

#include <chrono>
#include <string>

#include "base/result.h"

namespace passnet::run {

struct TimedGraph;

/// How far apart two clocks may be over the same calls: the larger of the two. What a request takes besides the calls
/// (waking up, a reply, what goes between calls) is why it is not less. A clock that tells a half or the double is beyond
/// it by far.
inline constexpr double kClockShare = 0.25;
inline constexpr double kClockSlackUs = 200;

/// What some calls took by the clock of this process, around the request, and by another one, around the calls.
struct ClockReading {
  double ours_us = 0, other_us = 0;
  /// Of ours: that this process and the worker waited for a processor that something else held. It is before the calls,
  /// after them, or in them; only then the other clock has it too.
  double waited_us = 0;
  int64_t calls = 0;  // how many, for messages
};

/// The other clock tells more than passed in all, or no number. Nothing that a machine does makes an honest one do that.
bool tells_too_much(const ClockReading& reading);
/// It tells less than passed, what was waited left out. Whatever else the machine did may be why: read it again.
bool tells_too_little(const ClockReading& reading);

/// How many calls are compared: so many that they take several times kClockSlackUs by the worker's word, but no more than
/// a worker that says 0 could use to keep us waiting. ours_us: of one call, by our clock; with it they take no longer than
/// kMostAuditUs together.
int64_t audited_calls(double usual_us, double ours_us);
/// Readings of one audit take no longer than this, but for the first.
inline constexpr double kMostAuditUs = 2e6;

struct ClockAuditOptions {
  std::string worker;   // "candidate", for messages
  double usual_us = 0;  // of a call, as the worker told
  bool alone = false;   // the worker is Stopped but for this
  std::chrono::milliseconds timeout{60000};
};

/// Compares the clocks of the worker that `graph` is loaded on with ours, over n calls and over 2n. A clock that tells
/// too little is read again, as a machine that does other work can make it seem to, and over more calls, as requests that
/// take long can.
/// Errors: of the worker; "clock": it tells too much once, or too little each time.
Result<void> audit_clocks(const TimedGraph& graph, const ClockAuditOptions& options);

}  // namespace passnet::run
