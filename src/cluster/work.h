// A worker: takes items from a queue and runs a command of `passnet` on each, until none is left.
#pragma once

#include <atomic>
#include <functional>
#include <string>

#include "base/result.h"
#include "cluster/queue.h"

namespace passnet::cluster {

struct WorkOptions {
  std::filesystem::path program;  // `passnet`
  bool wait = false;              // for items that will be added, until the queue is drained
  double poll_s = 2;              // between looks at an empty queue
  const std::atomic<bool>* interrupted = nullptr;
};

struct WorkHooks {
  std::function<void(const Claim&)> started;
  std::function<void(const Claim&, const std::string& outcome)> finished;  // "done", "failed: exit code 3", …
};

struct Worked {
  size_t done = 0, failed = 0, again = 0, lost = 0;  // again: given back for another try; lost: others took the item
};

/// Runs COMMAND ITEM --out WORK/out for each item, with its output in WORK/log.txt. Exit codes 0, 1 and 5 are results; 4
/// and a kill are the machine's, and the item is tried again; every other one is a failure.
/// Returns: when no item waits and no other worker has one (wait: when the queue is drained).
/// Errors: Io; Resource: interrupted (what it had waits for another worker), no process.
Result<Worked> work(Queue& queue, const WorkOptions& options, const WorkHooks& hooks);

}  // namespace passnet::cluster
