// Facts of a kernel before it is written: its parameters, how many items it has, and how a GPU may go through them.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "author/fuse/band.h"
#include "author/fuse/kernel.h"
#include "author/fuse/product.h"
#include "author/fuse/split.h"
#include "author/fuse/tile.h"

namespace passnet::author {

/// CUDA: how neighbouring elements are moved together, PACK of them by a thread, a number that the plan chooses: all that
/// follows must be multiples of it.
struct Packing {
  std::vector<SizeId> steps;      // from one run of neighbours to the next
  std::vector<TensorId> tensors;  // that are moved so: where they begin
  bool across_rows = false;       // of items: neighbours go on from the end of one row to the next one
};
/// Returns numbers that the length of a pack must divide where neighbours along `lane` are moved together; nullopt:
/// they cannot be.
std::optional<std::vector<SizeId>> steps_to(Definitions& definitions, const FusedKernel& kernel, const Packing& packing,
                                            const Access& access, TensorId tensor);

/// The arguments of a kernel, in the order of its parameters, and its loops.
struct KernelFacts {
  std::vector<TensorId> loaded, stored;                     // loaded: without inputs that are overwritten
  std::vector<TensorId> shares_taken, shares_given;         // of a split row: partial results of these reductions
  std::vector<std::pair<std::string, Compute>> parameters;  // constants that are inputs of the pattern
  SizeId items = 0, row = 0;                                // how many, and elements of each
  SizeId row_work = 0;                                      // in elements, for the threads that share a row
  SizeId steps = 0;                                         // of the longest loop that an item goes through
  SumOrder order = SumOrder::Any;                           // CUDA: of the sums over the row
  bool beside = false;                                      // rows are shared, and neighbours in memory are of others
  std::optional<Tile> tile;                                 // what goes through tiles; none: nothing has to
  std::optional<Packing> packing;                           // CUDA: none: an element at a time
  std::optional<Band> band;                                 // CUDA: none: windows have nothing in common
  std::optional<SizeId>
      column;  // CUDA: steps of an item's loops, which threads of a block share; none: each has its own items
  std::optional<Product> product;  // sums that a block, or a task, has tiles of; none: there are none
  std::optional<Packing> runs;     // CUDA: of its operands, PACK elements each
};
/// row: as split_of() has it. tiles: whether anything may go through such.
KernelFacts facts_of(Definitions& definitions, const FusedKernel& kernel, const std::optional<SplitRow>& row,
                     bool tiles);
/// Returns the facts of the kernel of that number that it was split into.
KernelFacts facts_of_part(Definitions& definitions, const FusedKernel& kernel, const SplitRow& row, size_t i);
/// Returns the name of the partial results of a reduction: floats, of all items for each part.
std::string share_name(const Definitions& definitions, TensorId of);

}  // namespace passnet::author
