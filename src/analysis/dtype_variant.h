// A graph at another element type, as if its model had been moved to it (`model.half()`).
// Source: docs/dataset-format.md, "Element types" under "Samples".
#pragma once

#include <optional>
#include <vector>

#include "graphdir/inputs/meta.h"
#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::analysis {

/// Returns: the records with every float32 tensor at `dtype`; nullopt when none is float32.
std::optional<std::vector<graphdir::TensorMeta>> retyped(const std::vector<graphdir::TensorMeta>& metas,
                                                         ir::DType dtype);

/// types:    by node id, of the graph with the retyped records.
/// Returns:  the graph with `.to(dtype)` put before each float32 tensor that a matrix product, a convolution or
///           attention takes: their other operands are at `dtype` now, and they refuse a mixture. A graph without such
///           tensors comes back equal.
ir::Graph with_casts(const ir::Graph& graph, ir::DType dtype, const ir::Values& types);

/// Returns: by node id, whether it looks like a cast that with_casts, or upstream when it made such variants, put
///          there: `.to` float16 or bfloat16 whose result only matrix products, convolutions and attention use.
std::vector<bool> variant_casts(const ir::Graph& graph);

}  // namespace passnet::analysis
