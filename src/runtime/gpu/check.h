// A fused node under suspicion on the GPU: what kernel_check.h does on the CPU, with canaries instead of fences, since device
// memory has no guard pages. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "runtime/kernels/fused.h"

namespace passnet::runtime::gpu {

/// Runs launch list `index` twice on copies of `tensors` (by buffer) with 1 MiB of canary bytes before and after each, with
/// outputs poisoned by two different patterns, and copies the results into those that the plan allocated.
/// Throws KernelFault.
void check_launches(const FusedLibrary& library, size_t index, const std::vector<at::Tensor>& tensors);

}  // namespace passnet::runtime::gpu
