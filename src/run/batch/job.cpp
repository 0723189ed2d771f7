#include "run/batch/job.h"

#include <chrono>
#include <cstddef>

#include "base/processors.h"
#include "run/worker/requests.h"

namespace passnet::run {

SlotWorkers::SlotWorkers(const JobOptions& options, WorkerOptions worker) {
  worker.interrupted = options.interrupted;
  const auto jobs = static_cast<size_t>(std::max(options.jobs, 1)), threads = static_cast<size_t>(worker.threads);
  // Workers take the same processors where none are given, which is for those that run one after the other.
  const std::vector<int> processors = worker.processors.empty() ? available_processors() : std::vector<int>();
  for (size_t slot = 0; slot < jobs; ++slot) {
    if (processors.size() >= jobs * threads) {
      const auto first = processors.begin() + static_cast<ptrdiff_t>(slot * threads);
      worker.processors.assign(first, first + static_cast<ptrdiff_t>(threads));
    }
    workers_.emplace_back(worker);
  }
}

Result<Worker*> SlotWorkers::at(size_t slot) {
  Worker& worker = workers_.at(slot);
  if (!worker.alive()) PASSNET_TRY_VOID(worker.start());
  return &worker;
}

Result<void> SlotWorkers::with(size_t slot, const std::function<Result<void>(Worker&)>& use) {
  PASSNET_TRY(Worker* const worker, at(slot));
  Result<void> used = use(*worker);
  forget_graph(*worker, kGraph, std::chrono::seconds(60));
  return used;
}

}  // namespace passnet::run
