// Whose fault an error is that comes out of a call to CUDA or one of its libraries: the graph's, the full device's, or
// that of the device, its driver and its libraries. PyTorch hands all of them on as exceptions that differ in their
// text alone. Free of torch.
#pragma once

#include <string>
#include <string_view>

namespace passnet::runtime {

enum class DeviceFault {
  None,     // the message is of no call to the device
  Memory,   // the device's memory is full, or the host's that the device sees
  Device,   // the device, its driver or a library failed: nothing that a graph could change
  Graph,    // the device refused or stopped what it was asked for: an index outside, sizes that no kernel takes
  Unclear,  // one of the two above: the text is the same
};

struct DeviceError {
  DeviceFault fault = DeviceFault::None;
  bool ends_process =
      false;  // every later call of this process fails too ("sticky"): only a new process has the device
};
/// message: PyTorch's or ours.
DeviceError classify_device_error(std::string_view message);

/// What a reply says of a failed request.
struct Blame {
  std::string kind;          // `kind` of docs/protocol.md
  bool retry = false;        // in fresh workers the same may succeed
  bool ends_worker = false;  // this worker can do nothing more
};
/// kind, message: of the error as it arose. What the pass is blamed for ("bad-pass", "crash", "out-of-bounds", …) stays
/// the pass's fault unless the memory or the device is to blame; else an error of the device is the machine's
/// ("resource") or the graph's ("bad-input").
Blame blame(std::string_view kind, std::string_view message);

}  // namespace passnet::runtime
