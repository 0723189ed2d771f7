// What pictures of a graph say of its nodes.
#pragma once

#include <string>

#include "ir/graph.h"

namespace passnet::fx {

/// A parameter or buffer of the model rather than an input: told by its annotation or by torch.fx's names.
bool is_weight(const ir::Graph& graph, ir::NodeId id);

/// What a node calls: "conv2d", ".view", "+", ".T"; the name of an input; "output".
std::string title_of(const ir::Node& node);

bool changes_its_argument(const ir::Node& node);

}  // namespace passnet::fx
