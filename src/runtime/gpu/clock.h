// Time that the device spends on a call, by its own clock. Internal to gpu/.
#pragma once

#include <cstdint>
#include <optional>

#include "runtime/device/device.h"

namespace passnet::runtime::gpu {

/// Times calls without what the host needs to launch them: the stream is held up until all launches stand in
/// line. REQUIRES gpu::start().
class DeviceClock final : public CallClock {
 public:
  /// Work: what the device does alone. Span: all that passes, by the device's clock; the stream is never held up.
  enum class Reads { Work, Span };
  explicit DeviceClock(Reads reads = Reads::Work);
  ~DeviceClock() override;
  DeviceClock(const DeviceClock&) = delete;
  DeviceClock& operator=(const DeviceClock&) = delete;
  void start() override;
  /// us from the first launch after start() to the end of the last; nullopt when the stream could not be held
  /// up for so long, and the call should be timed again. A call that waits for the device itself can never be
  /// held up; after some tries its time includes launching.
  std::optional<double> stop() override;

 private:
  void* events_[3];
  uint32_t* gate_ = nullptr;  // host memory that the device sees: the number of the call that may go on
  uint32_t call_ = 0;
  int late_ = 0;
};

}  // namespace passnet::runtime::gpu
