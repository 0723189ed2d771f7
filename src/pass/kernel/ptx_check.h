// Reads the PTX that a GPU kernel was compiled to, after all macros, and refuses what does more than compute.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace passnet::pass {

/// Errors: BadPass naming the clock register, the instruction (trap, nanosleep, griddepcontrol, …) or the function of
/// the device's run time (printf, malloc, a launch from the device) and what to do.
Result<void> check_ptx(std::string_view ptx, const std::string& kernel);

}  // namespace passnet::pass
