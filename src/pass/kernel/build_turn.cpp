#include "pass/kernel/build_turn.h"

#include <algorithm>
#include <condition_variable>
#include <mutex>
#include <set>
#include <utility>

namespace passnet::pass {

namespace {

struct Turns {
  std::mutex mutex;
  std::condition_variable ended;
  std::set<std::string> taken;
};

Turns& turns() {
  static Turns all;
  return all;
}

}  // namespace

BuildTurn::BuildTurn(std::vector<std::string> keys) : keys_(std::move(keys)) {
  Turns& all = turns();
  std::unique_lock lock(all.mutex);
  // All at once: two who wait for a key of the other each would wait for ever.
  all.ended.wait(lock, [&] {
    return std::ranges::none_of(keys_, [&](const std::string& key) { return all.taken.contains(key); });
  });
  all.taken.insert(keys_.begin(), keys_.end());
}

BuildTurn::~BuildTurn() {
  Turns& all = turns();
  {
    const std::lock_guard lock(all.mutex);
    for (const std::string& key : keys_) all.taken.erase(key);
  }
  all.ended.notify_all();
}

}  // namespace passnet::pass
