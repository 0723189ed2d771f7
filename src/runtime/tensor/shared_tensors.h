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
  int64_t device_bytes = 0;  // of memory on the device, which `memory` stands for; 0: it is shared memory
};

}  // namespace passnet::runtime
