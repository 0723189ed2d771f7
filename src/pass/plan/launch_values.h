// Values of a plan as arguments and constants of a launch, and back. Internal to plan/.
#pragma once

#include <string_view>
#include <utility>
#include <vector>

#include "base/result.h"
#include "pass/plan/launch_list.h"
#include "pass/plan/value.h"

namespace passnet::pass {

/// A tensor, int, float or bool. Errors: BadPass naming the kernel, and what to write instead.
Result<LaunchArg> to_argument(const Value& value, std::string_view kernel);
/// An int, float, bool, dtype, string or None as a compile-time constant. Errors: BadPass naming it.
Result<Constant> to_constant(const Value& value, std::string_view name);
Value to_value(const Constant& constant);
/// Names and values: what make_dict takes.
std::vector<std::pair<Value, Value>> to_dict(const std::vector<NamedConstant>& constants);

/// num_warps, num_stages, …: what a launch of Triton takes beside the parameters of the kernel.
bool is_triton_option(std::string_view name);

}  // namespace passnet::pass
