// A fused node under suspicion: its kernels run on copies in fenced memory, twice, with outputs poisoned by
// two different patterns. What is found: memory touched outside of a buffer, outputs left unwritten, inputs
// changed. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "pass/plan/launch_list.h"
#include "runtime/kernels/fused.h"
#include "runtime/kernels/kernel_fault.h"

namespace passnet::runtime {

class KernelCheck {
 public:
  /// Runs launch list `index` on checked copies of `tensors` (by buffer) and copies the results into those
  /// that the plan allocated. Throws KernelFault.
  void run(const FusedLibrary& library, size_t index, const std::vector<at::Tensor>& tensors) const;
};

}  // namespace passnet::runtime
