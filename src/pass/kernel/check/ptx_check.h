// Reads the PTX that a GPU kernel was compiled to, after all macros, and refuses what does more than compute.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::pass {

/// hint: what a refusal advises; empty for kernels in Name.cu.
/// Errors: BadPass naming the register (a clock, the number of the launch), the instruction (trap, nanosleep,
/// griddepcontrol, …) or the function of the device's run time (printf, malloc, a launch from the device) and what to
/// do; BadPass for text that this reader and ptxas could take for different things.
Result<void> check_ptx(std::string_view ptx, const std::string& kernel, const std::string& hint = {});

}  // namespace passnet::pass
