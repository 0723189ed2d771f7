// Questions about paths that never throw. The standard library's throw where a path cannot be looked at: a name that is
// too long, a loop of links, a directory that may not be read. A check of the tree keeps those out.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace passnet {

namespace fs = std::filesystem;

/// Links are followed; false where the path cannot be looked at.
bool path_exists(const fs::path& path);
bool directory_exists(const fs::path& path);
/// A regular file.
bool file_exists(const fs::path& path);

/// From the root on, without "." and ".."; the path itself where the working directory is gone.
fs::path absolute_path(const fs::path& path);

/// The entries of a directory, sorted. Errors: Io.
Result<std::vector<fs::path>> list_directory(const fs::path& directory);

/// Makes a directory and all above it; nothing where it is there. Errors: Io.
Result<void> make_directories(const fs::path& path);
/// Refuses a place that holds something. Errors: BadInput: `out` is there, and no directory or not an empty one; Io.
Result<void> require_empty(const fs::path& out);

}  // namespace passnet
