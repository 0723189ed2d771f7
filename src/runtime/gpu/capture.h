// A call of a graph as what the device does for it: kernels, copies and fills in order, recorded once, then repeated on
// other inputs and into other outputs without PyTorch or any interpretation. Internal to gpu/ (includes torch).
//
// Where do addresses stand among the arguments of a recorded kernel? The call is recorded twice, on inputs, outputs and
// temporaries at other addresses: what differs by exactly the distance between the two inputs (outputs) is an address
// in that input (output) and is patched in each call. Then the call is tried on inputs and outputs elsewhere; when that
// does not give what the operators give, bit by bit, the call works on inputs and outputs of its own, with copies
// before and after.
#pragma once

#include <ATen/core/Tensor.h>

#include <memory>
#include <vector>

#include "base/result.h"
#include "runtime/device/device.h"

namespace passnet::runtime::gpu {

/// Records `run` on copies of `inputs`. Errors: Unsupported saying what cannot be recorded (an operator that waits for
/// the device, draws random numbers, copies from the host, an output on the CPU), and what `run` gives.
/// REQUIRES: run has been called before, so that nothing is loaded or tuned while it is recorded.
Result<std::unique_ptr<RecordedCall>> record_call(const RecordedCall::Run& run, const std::vector<at::Tensor>& inputs);

}  // namespace passnet::runtime::gpu
