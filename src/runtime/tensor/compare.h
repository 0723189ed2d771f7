// One output against another: the tolerance ladder. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include "record/record.h"

namespace passnet::runtime {

/// expected, found: any strides. Element types and shapes are compared first; nothing is broadcast or
/// converted. An element passes rung t when |found - expected| <= atol + rtol |expected| in double; equal
/// infinities pass, and NaN where NaN is expected; NaN or an infinity in another place fails every rung. max_rel_diff is taken over elements whose expected value is not 0.
/// Outputs that are equal are read once, others a second time for `mismatch`. Two that lie on one device are compared there,
/// others on the CPU.
record::OutputCheck compare_tensors(const at::Tensor& expected, const at::Tensor& found);

/// Whether compare_tensors would say that `found` passes rung t (6: it would not be worse than at none), as fast as it
/// can be told.
bool passes(const at::Tensor& expected, const at::Tensor& found, int t);

/// Whether two tensors of one element type have the same shape and bits; false when `a` is not contiguous. Wherever
/// they lie: on the device when both do, else on the CPU. REQUIRES: b is contiguous.
bool same_bytes(const at::Tensor& a, const at::Tensor& b);

/// Tells whether `found` is eager's answer but for few roundings to a coarse grid that fell the other way, as a number next to the
/// middle of two steps goes by its last digit: eager has 4,096 elements or more, 16 of each value, and two and one in 100,000 are a
/// step off at most.
bool is_few_steps_off(const at::Tensor& eager, const at::Tensor& found);

}  // namespace passnet::runtime
