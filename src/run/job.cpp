#include "run/job.h"

#include <chrono>

#include "run/worker/requests.h"

namespace passnet::run {

SlotWorkers::SlotWorkers(const JobOptions& options, WorkerOptions worker) {
  worker.interrupted = options.interrupted;
  for (int i = 0; i < std::max(options.jobs, 1); ++i) workers_.emplace_back(worker);
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
