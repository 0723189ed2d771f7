// Where values end, by torch.fx's rule: after the node that uses them last, in the order of its arguments.
// Internal to fx/.
#pragma once

#include <vector>

#include "fx/syntax/statement.h"
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

/// Appends `a = b = None`, behind `indent`, for what ends at a node and `has_name`.
template <class HasName>
void print_ends_of_life(StatementPrinter& printer, const ir::Graph& graph, ir::NodeId id, std::vector<ir::NodeId>& last,
                        std::string_view indent, HasName&& has_name) {
  bool any = false;
  for_each_end_of_life(graph, id, last, [&](ir::NodeId dead) {
    if (!has_name(graph.node(dead))) return;
    printer.put(any ? " = " : indent);
    printer.put(graph.node(dead).name);
    any = true;
  });
  if (any) printer.put(" = None\n");
}

}  // namespace passnet::fx
