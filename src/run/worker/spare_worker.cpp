#include "run/worker/spare_worker.h"

#include <utility>

#include "base/check.h"
#include "run/worker/requests.h"

namespace passnet::run {

SpareWorker::SpareWorker(DeviceSlot* beside) {
  if (beside != nullptr) part_.emplace(beside->device());
}

SpareWorker::~SpareWorker() { await(); }

Result<void> SpareWorker::start(WorkerOptions options) {
  PASSNET_CHECK(!worker_, "a second spare worker");
  DeviceSlot::Use turn = computing(part_ ? &*part_ : nullptr);
  Worker worker(std::move(options));
  PASSNET_TRY_VOID(worker.start());
  worker_.emplace(std::move(worker));
  coming_up_ = std::thread([&up = *worker_, turn = std::move(turn)] { (void)start_up(up); });
  return {};
}

void SpareWorker::await() {
  if (coming_up_.joinable()) coming_up_.join();
}

Worker SpareWorker::take() {
  await();
  Worker taken = std::move(*worker_);
  worker_.reset();
  return taken;
}

}  // namespace passnet::run
