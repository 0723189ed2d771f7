// ir::Graph -> Graphviz: a picture of a graph, for people.
#pragma once

#include <span>
#include <string>

#include "ir/graph.h"

namespace passnet::fx {

/// shapes:   by node id, "float32[4, 197]"; an empty string where it is not known, an empty span when none is.
/// Returns:  a digraph from top to bottom. Inputs, functions, methods, operators and the output have colours of their
///           own, and what changes its argument in place has a red border. A node shows what it calls, its literal
///           arguments and the weights that it uses (a graph may have thousands); an edge shows the shape of the value.
std::string print_dot(const ir::Graph& graph, std::span<const std::string> shapes);

}  // namespace passnet::fx
