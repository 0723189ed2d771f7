// Opens files for reading, and those below a directory without following a link.
#pragma once

#include <filesystem>
#include <string>

#include "base/file/file.h"
#include "base/result.h"

namespace passnet {

/// How errors name `file` below `root`.
std::string path_beneath(const std::filesystem::path& root, const std::filesystem::path& file);

/// Opens any path for reading, through links too, without waiting. Errors: as cannot_open().
Result<UniqueFd> open_to_read(const std::filesystem::path& path, FileKind kind);

/// Opens a file below `root` for reading. Errors: as read_beneath(), but for its kind and size.
Result<UniqueFd> open_beneath(const std::filesystem::path& root, const std::filesystem::path& file, FileKind kind);

/// Why a file was not opened: BadInput where its name leads nowhere and people name files of this kind, as for a
/// directory that is not there; else Io.
Error cannot_open(const std::string& path, FileKind kind, int errno_value);

/// The size of a regular file in bytes. path: as an error names it. Errors: Io; BadInput (another kind of file).
Result<size_t> size_of_regular(int fd, const std::string& path);
/// The same; BadInput also for a file that is larger than what files of this kind may be.
Result<size_t> size_of_regular(int fd, const std::string& path, FileKind kind);

}  // namespace passnet
