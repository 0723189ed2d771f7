// Reference workers on the CPU, one for each thread that has taken one.
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

  /// Returns: an idle worker, else a newly started one.
  /// Errors:  as Worker::start.
  Result<std::unique_ptr<run::Worker>> take();
  /// Makes the worker idle; one whose process was lost is dropped.
  void give_back(std::unique_ptr<run::Worker> worker);

 private:
  const std::atomic<bool>* interrupted_;
  std::mutex mutex_;
  std::vector<std::unique_ptr<run::Worker>> idle_;
};

}  // namespace passnet::dataset
