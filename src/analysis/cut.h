// A range of a graph as a graph of its own. Source: docs/dataset-format.md, "How a range is cut out".
#pragma once

#include <functional>
#include <span>
#include <string>
#include <string_view>
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

/// arguments: of the inputs of `boundary`, in their order.
/// value:     the name of a node of the range.
/// Returns:   the piece with these names.
/// REQUIRES:  as cut; `boundary` is that of the range, and the names make a legal graph.
Piece cut_at(const ir::Graph& whole, Range range, Boundary boundary, std::span<const ArgumentName> arguments,
             const std::function<std::string(ir::NodeId)>& value);

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
