// A range of a graph as a graph of its own. Source: docs/dataset.md, "How a range is cut out".
#pragma once

#include <string>
#include <vector>

#include "analysis/range.h"
#include "ir/graph.h"

namespace passnet::analysis {

/// A range cut out of a whole graph. Arguments are in_0, in_1, … (data) and w_0, w_1, … (weights), values
/// tmp_0, tmp_1, …
struct Piece {
  ir::Graph graph;
  /// By argument: the value of the whole graph that it stands for.
  std::vector<ir::NodeId> inputs;
  /// By output: the value of the whole graph that it is.
  std::vector<ir::NodeId> outputs;
};

/// Returns: the piece. Its inputs are the values made before the range and used in it, its outputs the values made in
///          it and used after it. Both are sorted by their names in the whole graph; the outputs of a range that ends
///          the graph keep the graph's order. A piece may have no outputs.
/// REQUIRES: the range is not empty and lies within the body of `whole`.
Piece cut(const ir::Graph& whole, Range range);

/// name:     of an argument or value of a whole graph.
/// Returns:  whether it is data, and not a weight: a weight's name holds "_self_" or "_instance_modules_", where
///           torch.compile found it.
bool is_data(std::string_view name);

}  // namespace passnet::analysis
