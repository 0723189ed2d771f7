// Files and directories that a process leaves when it is killed in write_file() or write_directory() (base/file/file.h).
#pragma once

#include <filesystem>

namespace passnet {

/// Tells whether the last name is that of a file or directory in the making, NAME.tmpTHREAD or .NAME.PROCESS, and that
/// thread or process is gone.
bool is_leftover(const std::filesystem::path& path);

/// Removes all of these at and below a directory; follows no link. REQUIRES: nobody else writes there.
void remove_leftovers(const std::filesystem::path& root);

}  // namespace passnet
