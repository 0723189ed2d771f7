// Reference workers on the CPU for as many threads as ask at a time.
#pragma once

#include <atomic>
#include <memory>
#include <mutex>
#include <vector>

#include "run/worker/worker.h"

namespace passnet::dataset {

class WorkerPool {
 public:
  explicit WorkerPool(const std::atomic<bool>* interrupted) : interrupted_(interrupted) {}

  /// An idle worker, or one that is started now. Errors: as Worker::start.
  Result<std::unique_ptr<run::Worker>> take();
  /// A worker that was lost is dropped.
  void give_back(std::unique_ptr<run::Worker> worker);

 private:
  const std::atomic<bool>* interrupted_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<run::Worker>> idle_;
};

}  // namespace passnet::dataset
