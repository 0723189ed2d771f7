// Which processors of this machine a thread runs on.
#pragma once

#include <sched.h>

#include <vector>

namespace passnet {

/// Those that the calling thread may run on.
std::vector<int> available_processors();

/// While this lives, the calling thread and what it starts run there alone. Nothing happens when there are none, or the
/// system refuses.
class OnProcessors {
 public:
  explicit OnProcessors(const std::vector<int>& processors);
  ~OnProcessors();
  OnProcessors(const OnProcessors&) = delete;
  OnProcessors& operator=(const OnProcessors&) = delete;

 private:
  cpu_set_t before_{};
  bool changed_ = false;
};

}  // namespace passnet
