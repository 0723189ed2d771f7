// The two passes over outputs by PyTorch's operators, for those that lie on a device. Internal to runtime/tensor.
#pragma once

#include <ATen/core/Tensor.h>

#include "record/tolerance.h"
#include "runtime/tensor/sweep.h"

namespace passnet::runtime {

/// Adds the differences of all elements to `result`. REQUIRES here and below: contiguous, on one device (the CPU is one), of
/// one shape and one type, not complex.
void sweep_on_device(const at::Tensor& expected, const at::Tensor& found, Sweep& result);

/// What is beyond `at` is so as compare_tensors() says.
Counts count_on_device(const at::Tensor& expected, const at::Tensor& found, const record::Tolerance& at);

}  // namespace passnet::runtime
