// What the compiler refused in this process: it refuses the same again, and takes seconds to say so. A graph's kernels are
// asked for when all graphs' are built, and again when it is evaluated.
#pragma once

#include <optional>
#include <string>

#include "base/result.h"

namespace passnet::pass {

/// The bad pass that the request of this key was found to be; none where it was not built yet. From any thread.
std::optional<Error> known_refusal(const std::string& key);

/// Remembers a bad pass. What failed for another reason, such as a limit of time, may succeed at another time, and is not.
void remember_refusal(const std::string& key, const Error& error);

}  // namespace passnet::pass
