// What one worker gives to another: through shared memory, or where both use one device, in a room there. The reference makes
// the room, as a confined candidate may open such memory and not share its own. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "runtime/device/device.h"
#include "runtime/session/outputs.h"
#include "runtime/tensor/shared_tensors.h"

namespace passnet::runtime {

/// Memory for what a peer's call gives if it gives what `expected` did. None (no tensor) where that is too little to be worth
/// it, or the device has no room for copies of it.
SharedBytes make_room(Device& device, const CallResult& expected);

/// As share(); room: where the tensors are left if they fit. Null: there is none.
Result<SharedTensors> share_with_peer(Device& device, const std::vector<std::string>& names,
                                      const std::vector<at::Tensor>& tensors, const wire::DeviceRoom* room);

/// What a peer shared, by entry. It cannot be changed from there: shared memory is sealed or not the peer's any more, and
/// what lies in the room is copied. Errors: Io; BadInput: there is no room, or less.
Result<std::vector<at::Tensor>> peer_tensors(const SharedTensors& shared, const at::Tensor& room);

}  // namespace passnet::runtime
