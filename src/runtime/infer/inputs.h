// The inputs of a type inference. Internal to runtime/ (includes torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/inputs/meta.h"

namespace passnet::runtime {

/// Tensors of up to this many elements keep their data while types are inferred, when it is known.
inline constexpr int64_t kKnownElements = int64_t{1} << 20;

/// One tensor per name in `names` from the records: a CPU tensor where the replay rule gives small data without drawing normal numbers (literal data, integer ranges, constants), else
/// a meta tensor. Errors: BadInput with position; a name without record.
Result<std::vector<at::Tensor>> inferable_inputs(const graphdir::Metas& metas, const std::vector<std::string>& names);

}  // namespace passnet::runtime
