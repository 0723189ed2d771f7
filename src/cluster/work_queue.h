// A queue as its workers see it: a directory that they share (queue.h), or a server in front of one (remote_queue.h).
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::cluster {

/// Settings of a queue, the same for all of its items.
struct QueueRules {
  std::vector<std::string> command;  // of `passnet`, followed by the item
  double lease_s = 120;              // a worker without a heartbeat for so long has lost its item
  int tries = 3;                     // of an item that the machine kept from being done
  bool operator==(const QueueRules&) const = default;
};

/// An item that this worker has.
struct Claim {
  std::string key, text;
  int number = 1;              // of the try
  std::filesystem::path file;  // below claimed/; its last part, KEY~N@WORKER, names the claim
  bool has_result = false;     // a worker that was lost has published it
};

/// The next thing that a worker does. Without a claim and an end: it asks again later.
struct Turn {
  std::optional<Claim> claim;
  bool ended = false;
};

/// The place that an item is given after a try.
enum class Outcome {
  Done,    // its result is published
  Failed,  // no try can do it
  Again,   // the machine kept it from being done: the next try, or failed after the last one
  Back,    // it waits as before
};

struct Settled {
  bool held = false;       // the item was this worker's
  bool published = false;  // false, too, where there was a result already
  std::string work;        // the directory that a failed try leaves
};

class WorkQueue {
 public:
  virtual ~WorkQueue() = default;
  virtual const QueueRules& rules() const = 0;
  /// forever: the queue ends when it is drained, and not when it is empty. Errors: Io, Resource.
  virtual Result<Turn> next(bool forever) = 0;
  /// Heartbeat. Returns: false when the lease was lost: another may have the item.
  virtual bool renew(const Claim& claim) const = 0;
  /// The directory on this machine that the worker of a claim writes to.
  virtual std::filesystem::path work_of(const Claim& claim) const = 0;
  /// Errors: Io, Resource.
  virtual Result<Settled> settle(const Claim& claim, Outcome outcome) = 0;
};

}  // namespace passnet::cluster
