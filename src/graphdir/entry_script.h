// entry.sh of a sample: upstream's way to evaluate one.
#pragma once

#include <filesystem>

#include "base/result.h"

namespace passnet::graphdir {

/// Writes it into a sample's directory, executable; the same in every sample. Errors: Io.
Result<void> write_entry_script(const std::filesystem::path& sample);

}  // namespace passnet::graphdir
