// What checked runs on the CPU (kernel_check.h) and on the GPU (gpu/check.h) have in common: poisons, the search for elements
// left unwritten, and the words for what was found. Free of torch.
#pragma once

#include <string>
#include <vector>

#include "pass/plan/launch_list.h"
#include "runtime/kernels/kernel_fault.h"

namespace passnet::runtime {

/// torch.empty is filled with the first in the first run of the kernels and with the second in the second.
inline constexpr unsigned char kPoisons[] = {0xA5, 0x5A};

/// "kernel 'f' of pass 'P'"
std::string describe_kernel(const pass::LaunchList& list, const pass::Launch& launch);
/// "launch 1 of 2 at add_relu.py:12, grid (2): input 0 (float32[40, 50]), output 0 (float32[40, 50]), 2000": which launch of
/// the list it is, and what it was given. launch: an element of list.launches.
std::string describe_launch(const pass::LaunchList& list, const pass::Launch& launch);
/// How messages call a buffer: by what the plan returned it as or got it as.
std::string buffer_name(const pass::LaunchList& list, size_t index);

/// offset_bytes: before the buffer's start (negative) or past its end (0 is the first byte).
KernelFault wrote_outside(const pass::LaunchList& list, const pass::Launch& launch, size_t buffer,
                          int64_t offset_bytes);
KernelFault changed_input(const pass::LaunchList& list, const pass::Launch& launch, size_t buffer);

/// Throws KernelFault when elements of output `number` hold the first poison after the first run and the second after the
/// second. first, second: the buffers' memory after each.
void require_written(const pass::LaunchList& list, size_t number, const std::vector<const char*>& first,
                     const std::vector<const char*>& second);

}  // namespace passnet::runtime
