// Questions about paths that never throw. The standard library's throw where a path cannot be looked at: a name that is
// too long, a loop of links, a directory that may not be read. A check of the tree keeps those out.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"

namespace passnet {

/// Links are followed; false where the path cannot be looked at.
bool path_exists(const std::filesystem::path& path);
bool directory_exists(const std::filesystem::path& path);
/// A regular file.
bool file_exists(const std::filesystem::path& path);

/// From the root on, without "." and ".."; the path itself where the working directory is gone.
std::filesystem::path absolute_path(const std::filesystem::path& path);

/// The entries of a directory, sorted. Errors: Io.
Result<std::vector<std::filesystem::path>> list_directory(const std::filesystem::path& directory);

}  // namespace passnet
