// How many kernels a fusing compiler launches for a graph, without compiling it: a model of what TorchInductor does,
// made to find ranges that fuse (dataset/pieces/fusible.h).
// Source: docs/dataset-format.md, "How kernels are counted": what it assumes and how it was checked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

using ir::KernelClass;

/// Returns: what the call of node `id` costs. Most operators that the table (ir/ops/table.h) does not know are taken to
///          be pointwise.
KernelClass kernel_class(const ir::Graph& graph, ir::NodeId id);

/// elements: by node id, how many elements the tensor has; -1 where that is not known or the value is not a tensor;
///           empty when nothing is known.
/// Returns:  [n] is the number of kernels for the first n + 1 nodes of the body. It can fall from one node to the next,
///           where a node joins two kernels to one.
std::vector<int> kernel_counts(const ir::Graph& graph, std::span<const int64_t> elements);

}  // namespace passnet::analysis
