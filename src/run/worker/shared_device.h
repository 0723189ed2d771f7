// A GPU that several evaluations use at a time, so that one is got ready while another is timed. Any number of them
// compute side by side; whoever is timed has the device alone.
#pragma once

#include <condition_variable>
#include <mutex>

namespace passnet::run {

/// Nobody begins to compute once half of its users wait to be timed. These are timed one after the other when what has
/// begun is done; then whoever waits computes before anyone else is timed.
class SharedDevice {
 public:
  explicit SharedDevice(int users) : many_((users + 1) / 2) {}

  void begin_computing();
  void end_computing();
  void begin_timing();
  void end_timing();

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  const int many_;
  int computing_ = 0, wait_to_compute_ = 0, wait_to_time_ = 0;
  int to_compute_ = 0;  // of those that wait: before anyone is timed again
  int to_time_ = 0;     // of those that wait, and the one that is: before anyone computes again
  bool timing_ = false;
};

/// One evaluation's part in a device. Used by one thread at a time, by all of the evaluation's workers.
class DeviceSlot {
 public:
  explicit DeviceSlot(SharedDevice& device) : device_(device) {}
  DeviceSlot(const DeviceSlot&) = delete;
  DeviceSlot& operator=(const DeviceSlot&) = delete;

  SharedDevice& device() const { return device_; }

  /// The device, for as long as this lives.
  class Use {
   public:
    Use() = default;
    ~Use();
    Use(Use&& other) noexcept;
    Use& operator=(Use&&) = delete;

   private:
    friend class DeviceSlot;
    Use(DeviceSlot& slot, bool timing) : slot_(&slot), timing_(timing) {}
    DeviceSlot* slot_ = nullptr;
    bool timing_ = false;
  };

  /// Beside others who compute. Within either use this is part of that one.
  Use computing();
  /// Alone. Within such a use this is part of it; within computing() it would wait for itself.
  Use timing();

 private:
  SharedDevice& device_;
  int computing_ = 0, timing_ = 0;  // uses, one in the other
};

/// Those uses, where the device is shared at all. slot: may be null.
inline DeviceSlot::Use computing(DeviceSlot* slot) { return slot ? slot->computing() : DeviceSlot::Use(); }
inline DeviceSlot::Use timing(DeviceSlot* slot) { return slot ? slot->timing() : DeviceSlot::Use(); }

}  // namespace passnet::run
