#include "run/worker/shared_device.h"

#include <utility>

#include "base/check.h"

namespace passnet::run {

void SharedDevice::begin_computing() {
  std::unique_lock lock(mutex_);
  ++wait_to_compute_;
  changed_.wait(lock, [&] { return to_time_ == 0 && (wait_to_time_ < many_ || to_compute_ > 0); });
  --wait_to_compute_;
  if (to_compute_ > 0) --to_compute_;
  ++computing_;
}

void SharedDevice::end_computing() {
  {
    const std::lock_guard lock(mutex_);
    --computing_;
  }
  changed_.notify_all();
}

void SharedDevice::begin_timing() {
  std::unique_lock lock(mutex_);
  ++wait_to_time_;
  changed_.wait(lock, [&] { return !timing_ && computing_ == 0 && to_compute_ == 0; });
  if (to_time_ == 0) to_time_ = wait_to_time_;
  --wait_to_time_;
  timing_ = true;
}

void SharedDevice::end_timing() {
  {
    const std::lock_guard lock(mutex_);
    timing_ = false;
    if (--to_time_ == 0) to_compute_ = wait_to_compute_;
  }
  changed_.notify_all();
}

DeviceSlot::Use::Use(Use&& other) noexcept : slot_(std::exchange(other.slot_, nullptr)), timing_(other.timing_) {}

DeviceSlot::Use::~Use() {
  if (slot_ == nullptr) return;
  if (timing_ && --slot_->timing_ == 0) slot_->device_.end_timing();
  if (!timing_ && --slot_->computing_ == 0) slot_->device_.end_computing();
}

DeviceSlot::Use DeviceSlot::computing() {
  if (timing_ > 0) return {};
  if (computing_++ == 0) device_.begin_computing();
  return {*this, false};
}

DeviceSlot::Use DeviceSlot::timing() {
  PASSNET_CHECK(computing_ == 0, "a turn to be timed within one to compute");
  if (timing_++ == 0) device_.begin_timing();
  return {*this, true};
}

}  // namespace passnet::run
