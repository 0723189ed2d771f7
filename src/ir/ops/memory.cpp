#include "ir/ops/memory.h"

#include <algorithm>
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

namespace {

/// einsum gives a view of one tensor, "ij->ji", and a product of several.
bool may_be_view(const Graph& graph, const Node& node, const OpSignature& signature) {
  if (signature.flops != FlopRule::Einsum) return signature.view;
  size_t tensors = 0;
  for_each_input(graph, node, [&](NodeId) { ++tensors; });
  return tensors == 1;
}

}  // namespace

void for_each_aliased_input(const Graph& graph, NodeId id, const std::function<void(NodeId)>& visit) {
  const Node& node = graph.node(id);
  if (node.kind == NodeKind::Placeholder || node.kind == NodeKind::Output) return;
  const OpSignature* signature = find_signature(node);
  if (signature && !may_be_view(graph, node, *signature) && !overwrites_input(graph, id)) return;
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

namespace {

bool is_literal_true(const Arg& arg) { return arg.kind == ArgKind::Bool && arg.boolean; }

/// Operators that write to another argument than their first: statistics of normalizations in training, and tables with a
/// largest norm. (The parser makes a copy_ of `out`.)
bool may_write_to_any_input(const Graph& graph, const Node& node) {
  const auto args = graph.args(node);
  const auto keywords = graph.keywords(node);
  const auto is_given = [&](std::string_view name) {
    return std::ranges::any_of(
        keywords, [&](const Keyword& keyword) { return keyword.name == name && keyword.value.kind != ArgKind::None; });
  };
  if (node.target.ends_with("instance_norm")) return true;
  if (node.target.ends_with("batch_norm")) {
    return std::ranges::any_of(args, is_literal_true) ||
           std::ranges::any_of(keywords, [](const Keyword& keyword) { return is_literal_true(keyword.value); });
  }
  if (!node.target.ends_with("embedding") && !node.target.ends_with("embedding_bag")) return false;
  constexpr size_t kMaxNorm = 3;  // the place of both
  return is_given("max_norm") || (args.size() > kMaxNorm && args[kMaxNorm].kind != ArgKind::None);
}

}  // namespace

std::vector<bool> inputs_that_may_be_written(const Graph& graph) {
  const std::vector<NodeId> memory = memory_of_values(graph);
  std::vector<bool> written(graph.size());  // by memory
  const auto write = [&](NodeId id) { written[memory[id]] = true; };
  for (NodeId id = 0; id < graph.size(); ++id) {
    const Node& node = graph.node(id);
    if (node.kind == NodeKind::Placeholder || node.kind == NodeKind::Output) continue;
    const NodeId first = first_input(graph, id);
    if (overwrites_input(graph, id) && first != kNoNode) {
      write(first);
    } else if (overwrites_input(graph, id) || may_write_to_any_input(graph, node)) {
      for_each_input(graph, node, write);
    }
  }
  std::vector<bool> inputs;
  for (NodeId id = 0; id < graph.placeholder_count(); ++id) inputs.push_back(written[memory[id]]);
  return inputs;
}

}  // namespace passnet::ir
