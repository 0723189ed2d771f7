// What upstream's decomposition calls a node. Source: dataset specification, section C.1.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/graph.h"

namespace passnet::analysis {

/// "Tensor.view" of a method; the Python name of a function or operator: "layer_norm", "add", "iadd",
/// "getitem", "neg"; "getattr" of an attribute. Arguments play no part.
std::string op_name(const ir::Node& node);

/// The names of the body: all nodes but placeholders and the output, in order. Ranges of nodes count in this
/// list.
std::vector<std::string> op_names(const ir::Graph& graph);

/// Number of nodes in the body, and the node at a place in it.
size_t body_size(const ir::Graph& graph);
inline ir::NodeId body_node(const ir::Graph& graph, size_t place) {
  return graph.placeholder_count() + static_cast<ir::NodeId>(place);
}

/// The operator's canonical name, so that spellings agree; the op name of what the table of operators does
/// not know.
std::string canonical_op_name(const ir::Node& node);

}  // namespace passnet::analysis
