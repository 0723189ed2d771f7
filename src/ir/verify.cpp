#include "ir/verify.h"

#include <fmt/format.h>

#include <unordered_map>

namespace passnet::ir {

namespace {

Result<void> verify_order(const Graph& graph, NodeId id) {
  const Node& node = graph.node(id);
  const bool first = id < graph.placeholder_count();
  if (first != (node.kind == NodeKind::Placeholder))
    return bad_input(fmt::format("node {} '{}': placeholders must come before all other nodes", id, node.name),
                     graph.locate(node));
  if ((node.kind == NodeKind::Output) != (id + 1 == graph.size()))
    return bad_input(
        fmt::format("node {} '{}': the output must be the last node, and the last node the output", id, node.name),
        graph.locate(node));
  return {};
}

Result<void> verify_inputs(const Graph& graph, NodeId id) {
  NodeId bad = kNoNode;
  for_each_input(graph, graph.node(id), [&](NodeId input) { bad = bad == kNoNode && input >= id ? input : bad; });
  if (bad == kNoNode) return {};
  const Node& node = graph.node(id);
  return bad_input(bad < graph.size()
                       ? fmt::format("node {} '{}' uses '{}' (node {}) before its definition", id, node.name,
                                     graph.node(bad).name, bad)
                       : fmt::format("node {} '{}' uses node {}, which does not exist", id, node.name, bad),
                   graph.locate(node));
}

}  // namespace

Result<void> verify(const Graph& graph) {
  if (graph.size() == 0) return bad_input("the graph has no nodes");
  std::unordered_map<std::string_view, NodeId> names;
  names.reserve(graph.size());
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    PASSNET_TRY_VOID(verify_order(graph, id));
    PASSNET_TRY_VOID(verify_inputs(graph, id));
    if (node.name.empty()) return bad_input(fmt::format("node {} has no name", id), graph.locate(node));
    if (const auto [first, fresh] = names.emplace(node.name, id); !fresh)
      return bad_input(fmt::format("nodes {} and {} are both named '{}'", first->second, id, node.name),
                       graph.locate(node));
  }
  return {};
}

}  // namespace passnet::ir
