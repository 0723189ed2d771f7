// Special files in the place of files and directories of a sample: links, pipes, files of a terabyte.
#pragma once

#include <filesystem>
#include <string>

#include "base/result.h"
#include "selftest/block_text.h"

namespace passnet::selftest {

/// A directory of a sample, beside what PassNet reads of it: where a link may lead to.
inline constexpr const char* kOutside = "outside";

struct SpecialFile {
  enum class Kind { Link, Pipe, Sparse } kind = Kind::Link;
  std::string place;   // relative to the sample: "pass_dir/p.cpp", "graphs/relu"
  std::string target;  // of a link; empty: what stood there, moved to the directory "outside" of the sample
};

/// Reads the value of a field: "link PLACE", "link PLACE TARGET", "pipe PLACE", "sparse PLACE".
/// Errors: BadInput at the value: another form, a place outside of the sample.
Result<SpecialFile> parse_special(const TextField& field);

/// Puts it into the sample in `directory`, which has been written. Errors: Io.
Result<void> place_special(const SpecialFile& file, const std::filesystem::path& directory);

/// Copies a file, or a directory with all that is in it, special files among it. No link is followed, and what is larger
/// than 1 GiB is made anew, empty. Errors: Io.
Result<void> replicate(const std::filesystem::path& from, const std::filesystem::path& to);

}  // namespace passnet::selftest
