// The lines of a text, or of a file that may be larger than the memory that reading it may take.
#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <string_view>

#include "base/result.h"

namespace passnet {

/// Takes a line that is not blank, without its end: its number from 1, and whether it is whole (a last line without its
/// newline was torn by a kill, or is about to be). Returns: whether to go on.
using UseLine = std::function<bool(uint32_t number, std::string_view line, bool whole)>;

void for_each_line(std::string_view text, const UseLine& use);

/// Longest line of a file, in bytes; a reader holds no more than one.
inline constexpr size_t kMostOfALine = size_t{64} << 20;

/// The lines of a regular file, one in memory at a time. Errors: as read_file() of FileKind::Lines; BadInput at a line
/// longer than kMostOfALine.
Result<void> for_each_line_of(const std::filesystem::path& file, const UseLine& use);

/// The same of a file below a directory, as read_beneath() finds it.
Result<void> for_each_line_beneath(const std::filesystem::path& root, const std::filesystem::path& file,
                                   const UseLine& use);

}  // namespace passnet
