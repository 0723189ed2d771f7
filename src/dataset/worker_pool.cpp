#include "dataset/worker_pool.h"

#include <utility>

namespace passnet::dataset {

Result<std::unique_ptr<run::Worker>> WorkerPool::take() {
  {
    const std::lock_guard lock(mutex_);
    if (!idle_.empty()) {
      std::unique_ptr<run::Worker> worker = std::move(idle_.back());
      idle_.pop_back();
      return worker;
    }
  }
  auto worker = std::make_unique<run::Worker>(run::WorkerOptions{{}, run::Role::Reference, 1, interrupted_, {}});
  PASSNET_TRY_VOID(worker->start());
  return worker;
}

void WorkerPool::give_back(std::unique_ptr<run::Worker> worker) {
  if (!worker->alive()) return;
  const std::lock_guard lock(mutex_);
  idle_.push_back(std::move(worker));
}

}  // namespace passnet::dataset
