// Device memory that another process with the same GPU can map. Internal to gpu/.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>

#include "base/result.h"
#include "runtime/device/device.h"

namespace passnet::runtime::gpu {

/// As Device::allocate_shared().
Result<SharedBytes> allocate_shared(int64_t size_bytes);
/// As Device::open_shared().
Result<at::Tensor> open_shared(int memory, int64_t size_bytes);

}  // namespace passnet::runtime::gpu
