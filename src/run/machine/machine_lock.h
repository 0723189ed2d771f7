// Locks on what a measurement needs for itself: processors and GPUs of this machine. Two evaluations, of whichever
// users, checkouts and network namespaces, never time on the same one.
//
// Each thing has a lock file (flock); the system unlocks it when its process ends, however that ends. Beside them is a
// queue (lock_queue.h): first come, first served.
#pragma once

#include <atomic>
#include <chrono>
#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "run/machine/lock_queue.h"

namespace passnet::run {

/// How long to wait for others, and what they are told.
struct Waiting {
  std::string command;           // as others read it: "passnet author"
  std::optional<double> most_s;  // none: as long as it takes; 0: not at all
  /// Told why it waits, and again when its place changes: "third, held by 'passnet author' (pid 4711, since 8 min)".
  /// May be empty.
  std::function<void(const std::string&)> told;
  const std::atomic<bool>* interrupted = nullptr;  // becomes true at Ctrl-C; may be null
  std::chrono::milliseconds quiet{0};              // waits so long before it tells anything
  /// So long one that came first may leave what it wants untaken, as one that was stopped does.
  std::chrono::milliseconds patience{2000};
};

/// Things that this process holds until the lease ends.
class MachineLease {
 public:
  /// Takes of each kind so many of those wanted, the first that are free; waits while there are too few, or others came
  /// first.
  /// Errors: Resource: "interrupted"; the time to wait is over, with who holds what; a lock file is in the way
  /// (open_lock_file). Io.
  static Result<MachineLease> take(const ThingsByKind& wanted, const Waiting& waiting);
  MachineLease() = default;

  /// Of that kind, in the order of what was wanted.
  const std::vector<int>& held(const std::string& kind) const;

  /// Whether others wait for something that is held here. False where that cannot be read.
  bool is_wanted() const;
  /// Where others wait: gives them their turn, waits at the end of the queue however long it takes, and takes the same
  /// things again. Tells nothing of a short wait. Errors: as take(); then nothing is held.
  Result<void> give_turn(const Waiting& waiting);

 private:
  /// Locks until it is destroyed.
  class FileLock;
  friend class LeaseAttempt;
  ThingsByKind held_;
  std::vector<std::shared_ptr<FileLock>> locks_;
  OwnTicket ticket_;
};

}  // namespace passnet::run
