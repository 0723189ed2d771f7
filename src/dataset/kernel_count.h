// How many kernels a fusing compiler launches for a graph, without compiling it: a model of what
// TorchInductor does, made for finding ranges that fuse (fusible.h). docs/dataset.md says what it assumes and
// how it was checked.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "ir/graph.h"

namespace passnet::dataset {

/// What a call costs a fusing compiler.
enum class KernelClass : uint8_t {
  Free,       // no kernel: views, tuples taken apart, sizes, dropout that drops nothing
  Pointwise,  // one value per element of its result, from the elements at that place
  Stencil,    // one value per element of its result, from many of its input: pooling. What it reads lies in
              // memory before
  Reduction,  // sums, norms, softmax: reads each element of its input, alone or for a row
  Library,  // a kernel of its own that nothing fuses with: matrix products, convolutions, attention, sorting
};
KernelClass kernel_class(const ir::Graph& graph, ir::NodeId id);

/// [n]: kernels for the first n + 1 nodes of the body. elements: by node id, of the value's tensor; -1 where
/// it is not known or no tensor; empty when nothing is known. It may fall, where a node joins what were two
/// kernels.
std::vector<int> kernel_counts(const ir::Graph& graph, std::span<const int64_t> elements);

}  // namespace passnet::dataset
