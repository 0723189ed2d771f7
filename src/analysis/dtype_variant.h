// A graph at another element type, as a model is that was moved to it. docs/dataset.md compares this with
// upstream's rule.
#pragma once

#include <optional>
#include <vector>

#include "graphdir/meta.h"
#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::analysis {

/// The records with every float32 tensor at `dtype`; nullopt when there is none.
std::optional<std::vector<graphdir::TensorMeta>> retyped(const std::vector<graphdir::TensorMeta>& metas,
                                                         ir::DType dtype);

/// The graph with `.to(dtype)` before each float32 tensor that a matrix product, convolution or attention
/// takes: what else they take is at `dtype` now, and they refuse a mixture. types: by node id, of the graph with the retyped records. A graph that needs none comes back equal.
ir::Graph with_casts(const ir::Graph& graph, ir::DType dtype, const ir::Values& types);

/// By node: whether it is a cast as with_casts and upstream's dtype stage put them: `.to` float16 or
/// bfloat16, read by matrix products, convolutions and attention alone.
std::vector<bool> variant_casts(const ir::Graph& graph);

}  // namespace passnet::analysis
