// passnet pass new --from SOLUTION.json: a solution of FlashInfer-Trace as a pass.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "base/result.h"

namespace passnet::cli {

struct FromSolution {
  std::vector<std::filesystem::path> written;
  size_t graphs = 0;
  std::vector<std::pair<std::string, std::string>> left;  // workloads without a graph, and why
};

/// Writes the pass into `pass_dir`, and graphs of the workloads into the sample that holds it; none: no graphs.
/// Errors: of src/exchange; as pass::write_passes.
Result<FromSolution> from_solution(const std::filesystem::path& solution, const std::string& name,
                                   const std::filesystem::path& pass_dir,
                                   const std::optional<std::filesystem::path>& sample);

}  // namespace passnet::cli
