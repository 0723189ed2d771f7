// Values of options that the parser of the command line cannot judge by themselves.
#pragma once

#include <string>
#include <utility>

#include "base/result.h"

namespace passnet {

/// Error::failure of such values.
inline constexpr const char* kUsageFailure = "usage";
/// Ends a command with the exit code of what the parser refuses.
inline Error usage_error(std::string message) { return bad_input(std::move(message)).with_failure(kUsageFailure); }

}  // namespace passnet
