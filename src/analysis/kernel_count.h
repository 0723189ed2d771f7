// How many kernels a fusing compiler launches for a graph, without compiling it: a model of what
// TorchInductor does, made for finding ranges that fuse (fusible.h). docs/dataset.md says what it assumes and
// how it was checked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

using ir::KernelClass;

/// What a call costs. Of operators that the table does not know most are taken for pointwise.
KernelClass kernel_class(const ir::Graph& graph, ir::NodeId id);

/// [n]: kernels for the first n + 1 nodes of the body. elements: by node id, of the value's tensor; -1 where
/// it is not known or no tensor; empty when nothing is known. It may fall, where a node joins what were two
/// kernels.
std::vector<int> kernel_counts(const ir::Graph& graph, std::span<const int64_t> elements);

}  // namespace passnet::analysis
