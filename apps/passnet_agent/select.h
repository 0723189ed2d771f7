// Which samples of a list the attempts are made at.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::cli {

/// Applied in this order.
struct SampleSelection {
  std::string filter;               // a part of the path; empty: all
  std::optional<uint64_t> shuffle;  // a seed
  std::string slice;                // "A:B" as in Python; empty: all
  int limit = 0;                    // 0: none
};
/// Errors: BadInput: a slice of another form, or nothing is left.
Result<std::vector<std::filesystem::path>> select(std::vector<std::filesystem::path> samples,
                                                  const SampleSelection& selection);

/// The samples of a dataset in JSON lines: each a path, or an object with one as sample_path or path; relative to the
/// file, or else to the working directory. Errors: Io, BadInput with its line.
Result<std::vector<std::filesystem::path>> read_dataset(const std::filesystem::path& file);

}  // namespace passnet::cli
