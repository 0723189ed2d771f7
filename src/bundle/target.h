// Processors that kernels of a bundle are compiled for.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"
#include "bundle/bundle.h"

namespace passnet::bundle {

/// This machine's own processor; kernels use all that it has, and run on the same model alone.
inline constexpr std::string_view kThisCpu = "cpu";

/// Model and instruction sets of this machine's processor, as /proc/cpuinfo names them.
std::string this_processor();

/// Architecture that kernels of a target are built for, as pass::KernelRequest has it: empty for kThisCpu.
/// Errors: BadInput: neither "cpu", "x86-64-v3", "x86-64-v4" nor "sm_NN".
Result<std::string> architecture_of(const std::string& target);

/// Returns true for the target of a GPU, such as sm_90.
bool is_gpu(std::string_view target);

/// Returns true when this processor runs kernels of a target; false for GPUs. processor: that of kThisCpu.
bool runs_here(std::string_view target, std::string_view processor);

/// The plan for this machine's processor: compiled for its model, else for the highest level that it has. Null: the graph runs
/// without passes, and `why` says why. torch: version that runs the graph.
const Plan* choose_plan(const Manifest& manifest, std::string_view torch, std::string& why);

}  // namespace passnet::bundle
