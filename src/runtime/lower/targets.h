// What a graph may call. Free of torch.
#pragma once

#include <string>

#include "base/result.h"

namespace passnet::runtime {

/// Whether there is a function ("torch.roll") or a method of tensors ("view") of that name that a graph may call.
/// Errors: Unsupported: there is none (hint: the nearest), or PassNet does not run it (and why).
Result<void> check_target(bool method, const std::string& target);

}  // namespace passnet::runtime
