// Nothing is built twice at a time: who wants what another thread builds waits for it, and finds it in the cache.
#pragma once

#include <string>
#include <vector>

namespace passnet::pass {

/// The right to build what has these keys (CacheEntry::key), for as long as this lives. Of one process.
class BuildTurn {
 public:
  /// Waits until nobody has any of them. Whoever has a turn must not wait for another one.
  explicit BuildTurn(std::vector<std::string> keys);
  ~BuildTurn();
  BuildTurn(const BuildTurn&) = delete;
  BuildTurn& operator=(const BuildTurn&) = delete;

 private:
  std::vector<std::string> keys_;
};

}  // namespace passnet::pass
