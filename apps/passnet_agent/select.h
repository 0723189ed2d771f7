// Which samples of a list the attempts are made at.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::cli {

/// Applied in this order.
struct SampleSelection {
  std::string filter;  // a part of the path; empty: all
  int limit = 0;       // 0: none
};
/// Errors: BadInput: nothing is left.
Result<std::vector<std::filesystem::path>> select(std::vector<std::filesystem::path> samples,
                                                  const SampleSelection& selection);

}  // namespace passnet::cli
