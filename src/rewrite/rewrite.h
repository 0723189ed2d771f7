// Puts a fused call in place of a match. graph -> graph.
#pragma once

#include <span>
#include <vector>

#include "ir/graph.h"
#include "rewrite/match.h"

namespace passnet::rewrite {

/// One site to replace.
struct Site {
  Match match;
  int64_t launch_list = 0;         // index the runtime looks up
  std::vector<ir::NodeId> inputs;  // graph nodes handed to the kernels, in the order of the launch list's inputs
};

/// sites:    disjoint and legal, as find_matches gives them.
/// node_map: receives, by old id, the new id or kNoNode; may be null.
/// Returns:  the new graph: without the nodes that only the sites needed, with a `passnet.fused` call per site behind
///           all its inputs, and every other node behind what it depends on.
ir::Graph apply(const ir::Graph& graph, std::span<const Site> sites, std::vector<ir::NodeId>* node_map = nullptr);

}  // namespace passnet::rewrite
