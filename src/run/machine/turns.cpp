#include "run/machine/turns.h"

namespace passnet::run {

Turns::Graph::~Graph() {
  if (turns_ == nullptr) return;
  const std::lock_guard lock(turns_->mutex_);
  --turns_->busy_;
  turns_->changed_.notify_all();
}

Result<Turns::Graph> Turns::begin_graph(Turns* turns) {
  if (turns == nullptr) return Graph();
  PASSNET_TRY_VOID(turns->begin());
  return Graph(turns);
}

Result<void> Turns::begin() {
  std::unique_lock lock(mutex_);
  const uint64_t given = given_;
  if (lease_.is_wanted()) {
    changed_.wait(lock, [&] { return busy_ == 0 || given_ != given; });
    if (given_ == given) {
      PASSNET_TRY_VOID(lease_.give_turn(waiting_));
      ++given_;
      changed_.notify_all();
    }
  }
  ++busy_;
  return {};
}

}  // namespace passnet::run
