#include "rewrite/pattern.h"

#include <fmt/format.h>

namespace passnet::rewrite {

using ir::NodeId;

namespace {

Error bad(const ir::Graph& graph, NodeId id, std::string message) {
  return bad_pass(std::move(message), graph.locate(graph.node(id)));
}

Result<std::vector<NodeId>> returned_values(const ir::Graph& graph) {
  const NodeId output = graph.output();
  if (output == ir::kNoNode) return bad_pass("the pattern returns nothing", SourceLoc{graph.file, 0, 0});
  const ir::Arg& value = graph.args(output)[0];
  const bool several = value.kind == ir::ArgKind::Tuple || value.kind == ir::ArgKind::List;
  std::vector<ir::Arg> values(1, value);
  if (several) values.assign(graph.elements(value).begin(), graph.elements(value).end());
  if (values.empty()) return bad(graph, output, "the pattern returns nothing");
  std::vector<NodeId> result;
  for (const ir::Arg& arg : values) {
    if (arg.kind != ir::ArgKind::Node)
      return bad(graph, output, "the pattern returns something that is not a value it computes");
    if (graph.node(arg.node).kind == ir::NodeKind::Placeholder)
      return bad(graph, output, fmt::format("the pattern returns its input '{}' unchanged", graph.node(arg.node).name))
          .with_hint("return only values that the pattern computes");
    result.push_back(arg.node);
  }
  return result;
}

/// Marks what the outputs need: their inputs, and in-place calls on memory that something needed lies in.
Result<std::vector<bool>> needed(const ir::Graph& graph, const std::vector<NodeId>& outputs, const Order& order,
                                 Budget& steps) {
  std::vector<bool> live(graph.size()), live_memory(graph.size());
  for (const NodeId id : outputs) live[id] = true;
  for (bool changed = true; changed;) {
    changed = false;
    PASSNET_TRY_VOID(steps.charge(2 * graph.size()));
    for (NodeId id = graph.size(); id-- > 0;) {
      if (!live[id]) continue;
      live_memory[order.memory(id)] = true;
      ir::for_each_input(graph, graph.node(id), [&](NodeId input) { live[input] = true; });
    }
    for (NodeId id = 0; id < graph.size(); ++id) {
      const NodeId target = live[id] ? ir::kNoNode : order.overwritten(id);
      if (target != ir::kNoNode && live_memory[order.memory(target)]) live[id] = changed = true;
    }
  }
  return live;
}

}  // namespace

Result<Pattern> prepare_pattern(const ir::Graph& source, const MatchOptions& options, Budget& steps) {
  PASSNET_TRY_VOID(steps.charge(8 * source.size()));
  Pattern pattern;
  pattern.graph = std::make_unique<ir::Graph>(source);
  ir::Graph& graph = *pattern.graph;
  PASSNET_TRY(pattern.outputs, returned_values(graph));
  pattern.prepared = std::make_unique<PreparedGraph>(graph, options);
  const Order& order = pattern.prepared->order();
  PASSNET_TRY(const std::vector<bool> live, needed(graph, pattern.outputs, order, steps));
  pattern.is_output.resize(graph.size());
  for (const NodeId id : pattern.outputs) pattern.is_output[id] = true;
  for (NodeId id = 0; id < graph.size(); ++id) {
    if (pattern.is_placeholder(id)) {
      if (!live[id])
        return bad(graph, id, fmt::format("pattern input '{}' is not used", graph.node(id).name))
            .with_hint("remove it from the pattern's parameters, or use it in what the pattern returns");
      continue;
    }
    if (!live[id] || id == graph.output()) continue;
    pattern.calls.push_back(id);
    std::optional<Error> error;
    pattern.prepared->call(id, &error);
    if (error) {
      error->kind = Error::Kind::BadPass;
      return std::move(*error).with_note("in the pattern");
    }
  }
  for (const NodeId id : pattern.calls) {
    for (const Order::Edge& edge : order.successors(id)) {
      if (edge.why == Order::Why::Memory && live[edge.to] && edge.to != graph.output())
        pattern.ordered.emplace_back(id, edge.to);
    }
  }
  return pattern;
}

}  // namespace passnet::rewrite
