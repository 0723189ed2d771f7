// ir::Graph -> Graphviz: a picture of a graph, for people.
#pragma once

#include <span>
#include <string>

#include "ir/graph.h"

namespace passnet::fx {

struct DotOptions {
  /// Draw weights as nodes of their own; else each stands as a line in the nodes that use it. A graph may
  /// have thousands.
  bool weights = false;
};

/// A digraph from top to bottom. Inputs, weights, functions, methods, operators and the output have colours
/// of their own; what changes its argument in place has a red border. A node names what it calls and its
/// literal arguments; an edge carries the shape of the value. shapes: by node id, "float32[4, 197]"; empty
/// strings, or none at all, where they are not known.
std::string print_dot(const ir::Graph& graph, std::span<const std::string> shapes, const DotOptions& options = {});

}  // namespace passnet::fx
