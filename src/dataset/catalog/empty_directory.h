// Directories that an export writes from nothing.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace passnet::dataset {

/// Errors: BadInput: `out` exists and is not empty; Io.
Result<void> require_empty(const std::filesystem::path& out);

}  // namespace passnet::dataset
