// Names of nodes in GraphNet's decomposition. Source: docs/dataset-format.md, "How nodes are counted and named".
#pragma once

#include <span>
#include <string>
#include <vector>

#include "analysis/range.h"
#include "ir/graph.h"

namespace passnet::analysis {

/// Returns: "Tensor.view" for a method; Python's own name for a function or operator: "layer_norm", "add", "iadd",
///          "getitem", "neg"; "getattr" for an attribute. Arguments play no part.
std::string op_name(const ir::Node& node);

/// Returns: the names of the body's nodes, in order. The body is all nodes but the placeholders and the output; a Range
///          holds indices into this list.
std::vector<std::string> op_names(const ir::Graph& graph);

/// Returns: every range whose nodes have the op names `ops`, in order; ranges may overlap. REQUIRES: `ops` is not empty.
std::vector<Range> ranges_of_ops(const ir::Graph& graph, std::span<const std::string> ops);

/// Returns: the number of nodes in the body, and the node at an index in it.
size_t body_size(const ir::Graph& graph);
inline ir::NodeId body_node(const ir::Graph& graph, size_t place) {
  return graph.placeholder_count() + static_cast<ir::NodeId>(place);
}

/// Returns: the operator's canonical name (ir/ops/table.h), the same for all its spellings; op_name for an operator
///          that the table does not know.
std::string canonical_op_name(const ir::Node& node);

}  // namespace passnet::analysis
