// Tensors that another process may look at. Free of torch.
#pragma once

#include <cstdint>
#include <vector>

#include "base/file.h"
#include "wire/bundle.h"

namespace passnet::runtime {

struct SharedTensors {
  std::vector<wire::Entry> entries;
  UniqueFd memory;
  bool on_device = false;  // they lie in a DeviceRoom, and `memory` is none
};

/// Memory of the device in which another process leaves tensors for the one that made it.
struct DeviceRoom {
  int64_t size_bytes = 0;  // 0: there is none, and tensors go through shared memory
  UniqueFd memory;         // stands for it
};

}  // namespace passnet::runtime
