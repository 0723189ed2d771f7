// What is told of a device beside results. Free of torch.
#pragma once

#include <cstdint>
#include <optional>

namespace passnet::runtime {

/// Device memory that PyTorch's allocator held for this process, in use or kept for reuse.
struct DeviceMemory {
  int64_t peak_bytes = 0;  // the most at a time since memory was last given back
  int64_t kept_bytes = 0;  // what remains when it has been: workspaces, tensors of graphs that are still loaded
};

/// What can be read of a device's state: the clock of its processors and its temperature.
struct DeviceCondition {
  std::optional<int> sm_mhz, temperature_c;
};

}  // namespace passnet::runtime
