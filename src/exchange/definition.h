// A definition of FlashInfer-Trace: the operator that a solution computes.
// Source: flashinfer-ai/flashinfer-bench, docs/flashinfer-trace/definition.mdx.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "ir/dtype.h"
#include "ir/graph.h"

namespace passnet::exchange {

/// A size that shapes name.
struct Axis {
  std::string name;
  std::optional<int64_t> value;  // none: each workload has its own
};

struct Argument {
  std::string name;
  bool is_scalar = false;  // a number of Python; it has no shape
  std::vector<std::string> axes;
  ir::DType dtype = ir::DType::Float32;  // of a tensor
};

struct Definition {
  std::filesystem::path path;
  std::string name;
  std::vector<Axis> axes;
  std::vector<Argument> inputs, outputs;  // in the order of the file
  std::string pattern;                    // imports and `def pattern(…)`: the reference without its assertions
  ir::Graph graph;                        // of the reference, with a placeholder for each input

  const Axis* find_axis(std::string_view axis) const;
};

/// Errors: Io; BadInput: not JSON, a field that is missing or of another type, a name that is none, an axis that shapes
///         name and nothing defines, parameters of the reference that are not the inputs; Unsupported: a dtype that
///         graphs do not have, code beside the function `run`; as fx::parse_function at the place in the reference.
Result<Definition> load_definition(const std::filesystem::path& path);

}  // namespace passnet::exchange
