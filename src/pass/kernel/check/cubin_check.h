// Reads a kernel compiled for a GPU without loading it, and refuses one with variables of its own, which would keep state
// between launches. Those that it lets pass are compared when the kernel has run (runtime/gpu/module_variables.h).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"

namespace passnet::pass {

/// cubin: the bytes of the compiled unit. Returns the types of the kernel's parameters: "const float*,float*,int64_t".
/// constants: those of the launch, which NVRTC keeps as variables. Tables of CUDA's math library are no state.
/// Errors: BadPass naming a variable of the kernel's own in global memory; Io when the bytes are no cubin.
Result<std::string> check_cubin(std::string_view cubin, const std::string& kernel,
                                const std::vector<NamedConstant>& constants);

/// The same of a kernel that Triton has compiled, which has no such types inside.
/// Errors: as above; Io also when there is not exactly the kernel `entry` inside.
Result<void> check_triton_cubin(std::string_view cubin, const std::string& entry);

}  // namespace passnet::pass
