// Locks on what a measurement needs for itself: processors and GPUs of this machine. Two evaluations, of whichever
// users and checkouts, never time on the same one.
#pragma once

#include <atomic>
#include <functional>
#include <string>
#include <vector>

#include "base/file.h"
#include "base/result.h"

namespace passnet::run {

/// Things of one kind that this process holds until the lease ends. Each is the name of a socket without a file
/// ("abstract"), which the system frees with the process that bound it, however it ended: there is nothing stale to
/// clean up.
class MachineLease {
 public:
  /// Takes `count` of `wanted`, the first that are free; waits while there are too few.
  /// kind:        "processor" or "gpu".
  /// on_wait:     told once why it waits: "processors 0 and 1 are held by process 4711". May be empty.
  /// interrupted: becomes true at Ctrl-C; may be null.
  /// Errors: Resource: "interrupted"; the system gives no such sockets.
  static Result<MachineLease> take(const std::string& kind, const std::vector<int>& wanted, size_t count,
                                   const std::function<void(const std::string&)>& on_wait,
                                   const std::atomic<bool>* interrupted);
  MachineLease() = default;

  /// What is held, in the order of `wanted`.
  const std::vector<int>& held() const { return held_; }

 private:
  std::vector<int> held_;
  std::vector<UniqueFd> sockets_;
};

}  // namespace passnet::run
