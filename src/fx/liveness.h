// Where values end, by torch.fx's rule: after the node that uses them last, in the order of its arguments.
// Internal to fx/.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace passnet::fx {

/// Calls `visit(NodeId)` for each value that ends at node `id`: what the node uses last, then itself when
/// nothing uses it. last: ir::last_uses(graph); the entries of visited inputs are set to kNoNode.
template <class Visit>
void for_each_end_of_life(const ir::Graph& graph, ir::NodeId id, std::vector<ir::NodeId>& last, Visit&& visit) {
  const bool unused = last[id] == ir::kNoNode;
  for_each_input(graph, graph.node(id), [&](ir::NodeId input) {
    if (last[input] != id) return;
    last[input] = ir::kNoNode;
    visit(input);
  });
  if (unused) visit(id);
}

}  // namespace passnet::fx
