// Tensors that go from one worker to another: through shared memory, or where both use one device, on it. Internal to
// runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/device/device.h"
#include "runtime/tensor/shared_tensors.h"

namespace passnet::runtime {

/// As share(). on_device: the peer is on the same device; large tensors stay on it, where it has room for copies.
Result<SharedTensors> share_with_peer(Device& device, const std::vector<std::string>& names,
                                      const std::vector<at::Tensor>& tensors, bool on_device);

/// What a peer shared, by entry. It cannot be changed from there: shared memory is sealed, and of the device's memory there
/// is a copy. Errors: Io; Resource; BadInput: `memory` is smaller.
Result<std::vector<at::Tensor>> peer_tensors(Device& device, const SharedTensors& shared);

}  // namespace passnet::runtime
