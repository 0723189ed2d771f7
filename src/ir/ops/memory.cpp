#include "ir/ops/memory.h"

#include <numeric>

#include "ir/ops/table.h"

namespace passnet::ir {

NodeId first_input(const Graph& graph, NodeId id) {
  const auto args = graph.args(id);
  if (!args.empty()) return args[0].kind == ArgKind::Node ? args[0].node : kNoNode;
  for (const Keyword& keyword : graph.keywords(id)) {
    if ((keyword.name == "input" || keyword.name == "self") && keyword.value.kind == ArgKind::Node)
      return keyword.value.node;
  }
  return kNoNode;
}

NodeId overwritten_input(const Graph& graph, NodeId id) {
  return overwrites_input(graph, id) ? first_input(graph, id) : kNoNode;
}

NodeId viewed_input(const Graph& graph, NodeId id) {
  const OpSignature* signature = find_signature(graph.node(id));
  return signature != nullptr && signature->view ? first_input(graph, id) : kNoNode;
}

NodeId base_of(const Graph& graph, NodeId id) {
  for (;;) {
    const NodeId viewed = viewed_input(graph, id);
    const NodeId below = viewed != kNoNode ? viewed : overwritten_input(graph, id);
    if (below == kNoNode) return id;
    id = below;
  }
}

void for_each_aliased_input(const Graph& graph, NodeId id, const std::function<void(NodeId)>& visit) {
  const Node& node = graph.node(id);
  if (node.kind == NodeKind::Placeholder || node.kind == NodeKind::Output) return;
  const OpSignature* signature = find_signature(node);
  if (signature && !signature->view && !overwrites_input(graph, id)) return;
  const NodeId first = first_input(graph, id);
  // broadcast_tensors and meshgrid take their tensors as one parameter, and view them all.
  const bool takes_many = signature && !signature->parameters.empty() && signature->parameters.front().variadic;
  if (signature && !takes_many && first != kNoNode) {
    visit(first);
  } else {
    for_each_input(graph, node, visit);
  }
}

std::vector<NodeId> memory_of_values(const Graph& graph) {
  std::vector<NodeId> memory(graph.size());
  std::iota(memory.begin(), memory.end(), NodeId{0});
  const auto root = [&](NodeId id) {
    while (memory[id] != id) id = memory[id] = memory[memory[id]];
    return id;
  };
  for (NodeId id = 0; id < graph.size(); ++id)
    for_each_aliased_input(graph, id, [&](NodeId input) { memory[root(id)] = root(input); });
  for (NodeId id = 0; id < graph.size(); ++id) memory[id] = root(id);
  return memory;
}

}  // namespace passnet::ir
