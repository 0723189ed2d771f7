// A GPU in the process of a user, where PyTorch is at work already: with several devices, threads and streams. Internal to
// runtime/ (includes torch).
#pragma once

#include <c10/core/Device.h>
#include <c10/core/Stream.h>

#include <cstdint>
#include <memory>
#include <optional>

#include "base/result.h"
#include "runtime/device/device.h"

namespace passnet::runtime {

/// A GPU that PyTorch has started in this process. Errors: Resource saying which part is missing.
/// REQUIRES of all calls of it: this thread is OnGpu.
Result<std::unique_ptr<Device>> use_gpu(c10::DeviceIndex index);

/// Sends the work of this thread to a device and a stream of it, for PyTorch too, while it lives.
/// REQUIRES: use_gpu() has succeeded for the device.
class OnGpu {
 public:
  enum class Stream : uint8_t {
    Current,  // PyTorch's current one
    Own,  // one of ours, which can be recorded, by one thread at a time; what stands in line is waited for at both ends
  };
  OnGpu(c10::DeviceIndex index, Stream which);
  ~OnGpu();
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;

  /// True while the user records this stream into a CUDA graph.
  bool is_recorded_by_user() const;
  /// Waits for all streams of the device.
  void wait_for_all() const;

  /// Lets recorded calls of one device follow one another, as they share PyTorch's workspaces: holds others back while it
  /// lives, and orders this stream after the one that the last call went to.
  class Turn {
   public:
    explicit Turn(const OnGpu& on);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

   private:
    const OnGpu& on_;
  };

 private:
  struct Lane;
  c10::Device device_, device_before_;
  std::optional<c10::Device> graph_device_before_;
  c10::Stream stream_before_;
  bool own_ = false;
  std::unique_ptr<Lane> lane_;
};

}  // namespace passnet::runtime
