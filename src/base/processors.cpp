#include "base/processors.h"

#include <cstddef>

namespace passnet {

std::vector<int> available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  std::vector<int> processors;
  if (::sched_getaffinity(0, sizeof set, &set) != 0) return processors;
  for (int i = 0; i < CPU_SETSIZE; ++i) {
    if (CPU_ISSET(i, &set)) processors.push_back(i);
  }
  return processors;
}

OnProcessors::OnProcessors(const std::vector<int>& processors) {
  if (processors.empty() || ::sched_getaffinity(0, sizeof before_, &before_) != 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  for (const int processor : processors) CPU_SET(static_cast<size_t>(processor), &set);
  changed_ = ::sched_setaffinity(0, sizeof set, &set) == 0;
}

OnProcessors::~OnProcessors() {
  if (changed_) ::sched_setaffinity(0, sizeof before_, &before_);
}

}  // namespace passnet
