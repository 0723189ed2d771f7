// The bytes that no kernel for a graph can do without: outputs written once, and what they depend on in full read once.
// Rather too few than too many: what may be read in part (an embedding, a slice, a mask) is not counted.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::run {

/// Bytes of a tensor's elements, those that lie in one place (an expanded tensor) counted once.
int64_t distinct_bytes(const ir::TensorType& type);

/// types:  by node id, as a call made them.
/// owned:  by output, whether it lies in memory of its own; one that is a view of an input or of another output is not
///         written. Outputs are those of the graph's return statement; 0 when they are not as many.
int64_t least_bytes(const ir::Graph& graph, const ir::Values& types, const std::vector<bool>& owned);

}  // namespace passnet::run
