// The passes with which upstream made whole graphs fit other shapes: constants that are sizes become size(axis) of a
// value, by comparing numbers. Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/inputs/constraints.h"
#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::dataset::official {

/// A size that may change, and the axes that have it in the inputs: what a pass is told.
struct ChangingSize {
  int64_t captured = 0;
  std::vector<size_t> axes;
};
/// Returns: those of the symbols, in their order.
std::vector<ChangingSize> changing_sizes(const graphdir::Constraints& constraints);

/// A graph with size() calls, and arithmetic with them, in place of constants.
struct SizedGraph {
  ir::Graph graph;
  std::vector<bool> is_size;  // by node id: one of those calls
  bool rewritten = false;     // a pass had something to do: nodes have other names now
};

/// graph:    under the names of traced_names: passes copy it, and give names anew to nodes that they make anew.
/// types:    by node id, as captured.
/// passes:   "dimension_generalization_passes" of graph_net.json; each runs once for each of `sizes`.
/// Errors:   Unsupported: a pass of another name, or one that refuses the graph.
Result<SizedGraph> apply_size_passes(const ir::Graph& graph, const ir::Values& types,
                                     std::span<const std::string> passes, std::span<const ChangingSize> sizes);

/// A graph with numbers again: the nodes that it had before the passes, and no others.
struct NumberedGraph {
  ir::Graph graph;
  std::vector<std::string> unknown;  // by node id: why one of its sizes is not known, which then stands there as None
};
/// values:   by node id of `sized.graph`, at the shapes that are wanted.
NumberedGraph with_numbers(const SizedGraph& sized, const ir::Values& values);

}  // namespace passnet::dataset::official
