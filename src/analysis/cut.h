// A range of a graph as a graph of its own. Source: dataset specification, sections C.5 and C.6.
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

/// Inputs are the values from before the range that it uses, outputs those made in it and used after it; both
/// sorted by their names in the whole graph, outputs of a range that ends the graph in the graph's order. A
/// piece may have no outputs. REQUIRES: range within the body of `whole`, not empty.
Piece cut(const ir::Graph& whole, Range range);

/// Whether an argument or value of a whole graph is data, not a weight: its name says where dynamo found it.
bool is_data(std::string_view name);

}  // namespace passnet::analysis
