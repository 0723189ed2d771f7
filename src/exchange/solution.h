// A solution of FlashInfer-Trace: sources that compute a definition.
// Source: flashinfer-ai/flashinfer-bench, docs/flashinfer-trace/solution.mdx.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::exchange {

struct SourceText {
  std::string path, content;
};

struct BuildSpec {
  std::string language;     // "triton", "python", "cuda", …
  std::string entry_point;  // "main.py::run"
  /// Outputs are the last arguments. Without the field the format means true; solutions older than it return them.
  std::optional<bool> destination_passing_style;
};

struct Solution {
  std::filesystem::path path;
  std::string name, definition, author;
  BuildSpec spec;
  std::vector<SourceText> sources;
};

/// Errors: Io; BadInput: not JSON, a field that is missing or of another type.
Result<Solution> load_solution(const std::filesystem::path& path);

/// The file of the solution's definition: NAME.json beside the solution, or in `definitions` of a directory above it.
/// Errors: BadInput: there is none.
Result<std::filesystem::path> find_definition(const Solution& solution);

/// The file of a definition's workloads: NAME.jsonl beside it, or below `workloads` in place of `definitions`. Need not exist.
std::filesystem::path workloads_of(const std::filesystem::path& definition);

}  // namespace passnet::exchange
