// A worker: takes items from a queue and runs a command of `passnet` on each, until none is left.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/result.h"
#include "cluster/work_queue.h"

namespace passnet::cluster {

struct WorkOptions {
  std::filesystem::path program;  // `passnet`
  bool wait = false;              // for items that will be added, until the queue is drained
  double poll_s = 2;              // between the first looks at an empty queue; doubled up to kLongestPollS
  const std::atomic<bool>* interrupted = nullptr;
};

inline constexpr double kLongestPollS = 16;
/// A worker without an item ends after so many leases: by then a worker that was lost before is known. Those that still
/// work take over from those that are lost later, and a thousand GPUs do not wait for the last sample.
inline constexpr double kLeasesToWait = 1.5;

struct WorkHooks {
  std::function<void(const Claim&)> started;
  std::function<void(const Claim&, const std::string& outcome)> finished;  // "done", "failed: exit code 3", …
};

struct Worked {
  size_t done = 0, failed = 0, again = 0, lost = 0;  // again: given back for another try; lost: others took the item
};

/// Runs COMMAND ITEM --out WORK/out for each item, with its output in WORK/log.txt. Exit codes 0, 1 and 5 are results; 4
/// and a kill are the machine's, and the item is tried again; every other one is a failure.
/// Returns: when no item waits and no other worker has one, or after kLeasesToWait without an item (wait: when the
/// queue is drained).
/// Errors: Io; Resource: interrupted (what it had waits for another worker), no process.
Result<Worked> work(WorkQueue& queue, const WorkOptions& options, const WorkHooks& hooks);

}  // namespace passnet::cluster
