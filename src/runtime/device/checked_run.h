// A launch list under suspicion: its kernels run on copies of the buffers, twice, with random bytes in
// what torch.empty gave, others in the second run. What is found: memory touched outside of a buffer, outputs left unwritten, inputs changed.
// Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "pass/plan/launch_list.h"
#include "runtime/device/device.h"

namespace passnet::runtime {

/// Runs list `number` of those that `host` runs twice on checked copies of `tensors` (by buffer) and copies the second
/// run's results into those that the plan allocated. Throws KernelFault.
void run_checked(Device& device, KernelHost& host, const FusedList& list, size_t number,
                 const std::vector<at::Tensor>& tensors);

/// How messages call a buffer, by what the plan returned it as or got it as: "output 0 (float32[2, 3])".
std::string buffer_name(const pass::LaunchList& list, size_t index);

/// "kernel 'f' of pass 'P'"
std::string describe_kernel(const pass::LaunchList& list, const pass::Launch& launch);
/// "launch 1 of 2 at add_relu.py:12, grid (2): input 0 (float32[40, 50]), output 0 (float32[40, 50]), 2000": which
/// launch of the list it is, and what it was given. launch: an element of list.launches.
std::string describe_launch(const pass::LaunchList& list, const pass::Launch& launch);

}  // namespace passnet::runtime
