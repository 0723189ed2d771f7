// Whether passnet_home() can be trusted: programs, kernels and measurements are taken from there.
#pragma once

#include <string>

#include "base/result.h"

namespace passnet {

/// Errors: Resource, with what to do: other users may write to it, it is not a directory, or it, or the link to it,
/// belongs to another user than this one and root. root may use the directory of any user.
Result<void> check_home();

/// What is unusual about it and no error: it is a link, or root uses another user's. Empty: nothing. The first call of
/// passnet_home() logs it.
std::string home_remark();

}  // namespace passnet
