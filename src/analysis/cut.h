// A range of a graph, or other nodes of it, as a graph of their own. Source: docs/dataset-format.md, "How a range is cut out".
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "analysis/range.h"
#include "ir/graph.h"

namespace passnet::analysis {

/// Nodes cut out of a whole graph. Arguments are in_0, in_1, … (data) and w_0, w_1, … (weights), values
/// tmp_0, tmp_1, …
struct Piece {
  ir::Graph graph;
  /// By argument: the value of the whole graph that it stands for.
  std::vector<ir::NodeId> inputs;
  /// By output: the value of the whole graph that it is.
  std::vector<ir::NodeId> outputs;
};

/// What crosses the ends of a range: values of the whole graph.
struct Boundary {
  std::vector<ir::NodeId> inputs;   // made before it and used in it
  std::vector<ir::NodeId> outputs;  // made in it and used after it
};

/// names:    by node id; the values are sorted by them. The outputs of a range that ends the graph keep the graph's order.
/// REQUIRES: as cut.
Boundary find_boundary(const ir::Graph& whole, Range range, std::span<const std::string_view> names);

/// How an argument of a piece is called in its signature, and in its body.
struct ArgumentName {
  std::string signature, body;
};

/// Returns the node ids of a range of the body.
std::vector<ir::NodeId> nodes_of(const ir::Graph& whole, Range range);

/// arguments: of the inputs of `boundary`, in their order.
/// value:     returns the name of the next node; called for each, in order.
/// Returns:   the piece with these names.
/// REQUIRES:  as cut; `boundary` is that of the nodes, and the names make a legal graph.
Piece cut_at(const ir::Graph& whole, std::span<const ir::NodeId> nodes, Boundary boundary,
             std::span<const ArgumentName> arguments, const std::function<std::string()>& value);

/// Returns: the piece. Its inputs are the values made before the range and used in it, its outputs the values made in
///          it and used after it. Both are sorted by their names in the whole graph; the outputs of a range that ends
///          the graph keep the graph's order. A piece may have no outputs.
/// REQUIRES: the range is not empty and lies within the body of `whole`.
Piece cut(const ir::Graph& whole, Range range);

/// Returns: the same for nodes that need not stand side by side; inputs and outputs keep the graph's order.
/// REQUIRES: nodes of the body, in the graph's order, at least one; no path leads out of them and back.
Piece cut(const ir::Graph& whole, std::span<const ir::NodeId> nodes);

/// name:     of an argument or value of a whole graph.
/// Returns:  whether it is data, and not a weight: a weight's name holds "_self_" or "_instance_modules_", where
///           torch.compile found it.
bool is_data(std::string_view name);

}  // namespace passnet::analysis
