#include "ir/ops/written_inputs.h"

#include <algorithm>

#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::ir {

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
