// Products of matrices over many steps, of which a GPU's block, or a task of a CPU, has a tile of sums: each element that it
// reads is multiplied as often as the tile is wide.
#pragma once

#include <optional>
#include <vector>

#include "author/fuse/kernel.h"

namespace passnet::author {

/// The factor on one side of the result.
struct ProductOperand {
  ExprId element = 0;
  std::vector<Loop> across;  // the loops of the result that it alone goes along: its rows, or its columns
  bool along_depth = false;  // neighbours in memory are steps of a sum, not rows or columns beside each other
  bool is_run = false;       // all steps of a sum, or else all rows or columns, lie in one piece
  bool in_memory = false;    // it lies there as it is multiplied
  bool in_runs = false;      // several neighbours are read at once, where the plan finds that they can
};

/// The columns of a convolution whose channels go in blocks: a step is a channel of a block, at a place of the window.
struct Windows {
  ExprId load = 0;
  std::optional<ExprId> inside;  // the picture, where windows hang over its edges
  std::vector<Loop> taps;
  std::optional<VariableId> block;  // none: there is one
  VariableId channel = 0;
  SizeId step = 0;  // from one channel to the next
};

struct Product {
  ExprId sum = 0;
  ElementId element = 0;  // of the operands and the result
  std::vector<Loop> batch, depth;
  ProductOperand rows, columns;         // neighbours in the result lie along the columns
  std::optional<SizeId> channels = {};  // of a convolution
  bool overlaps = false;                // of a convolution whose windows overlap or hang over an edge
  std::optional<Windows> windows = {};
};

/// nullopt: it is none, or one whose operands do not go along loops of their own.
std::optional<Product> product_of(Definitions& definitions, const FusedKernel& kernel);

}  // namespace passnet::author
