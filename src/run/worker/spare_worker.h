// A worker that comes up while others work, so that whoever needs it next does not wait for it.
#pragma once

#include <optional>
#include <thread>

#include "base/result.h"
#include "run/worker/shared_device.h"
#include "run/worker/worker.h"

namespace passnet::run {

class SpareWorker {
 public:
  /// beside: the part in a device of whoever it is for; null: it is theirs alone.
  explicit SpareWorker(DeviceSlot* beside);
  ~SpareWorker();
  SpareWorker(const SpareWorker&) = delete;
  SpareWorker& operator=(const SpareWorker&) = delete;

  bool is_there() const { return worker_.has_value(); }
  /// Starts it and returns at once; what is wrong with it is told by the first request to it. It ends with the thread that
  /// calls this. Where the device is shared, nobody is timed until it has come up.
  /// REQUIRES: it is not there, and the caller has no turn of the device. Errors: as Worker::start.
  Result<void> start(WorkerOptions options);
  /// Waits until it has come up, if it is there: a device that is not shared has then nothing to do for it.
  void await();
  /// REQUIRES: it is there.
  Worker take();

 private:
  std::optional<DeviceSlot> part_;  // of its own, as it comes up while its owner computes
  std::optional<Worker> worker_;
  std::thread coming_up_;
};

}  // namespace passnet::run
