#include "author/take/overwrites.h"

#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

/// The values that an in-place operator and those before it on the same value give or take: names of one memory.
std::set<NodeId> names_of_memory(const ir::Graph& graph, NodeId id) {
  std::set<NodeId> names;
  while ((id = ir::overwritten_input(graph, id)) != ir::kNoNode) names.insert(id);
  return names;
}

/// `x[index] += y` is a view, an operator in place on it, and the result stored where it is already. The last of these three,
/// of the second one; none: it is something else.
std::optional<NodeId> stored_back(const ir::Graph& graph, NodeId id, const std::vector<std::vector<NodeId>>& users) {
  const auto args = graph.args(id);
  if (args.empty() || args[0].kind != ArgKind::Node || users[id].empty()) return std::nullopt;
  const NodeId view = args[0].node, last = *std::ranges::min_element(users[id]);
  if (graph.node(view).target != "getitem" || graph.node(last).target != "setitem") return std::nullopt;
  const auto from = graph.args(view), into = graph.args(last);
  const bool same = ir::equal_args(graph, from[0], graph, into[0]) && ir::equal_args(graph, from[1], graph, into[1]) &&
                    into[2].kind == ArgKind::Node && into[2].node == id;
  return same ? std::optional(last) : std::nullopt;
}

}  // namespace

bool old_view_is_needed(const ir::Graph& graph, NodeId id, const std::vector<std::vector<NodeId>>& users) {
  const std::set<NodeId> names = names_of_memory(graph, id);
  if (names.empty()) return true;
  const NodeId base = ir::base_of(graph, *names.rbegin());
  const std::optional<NodeId> back = stored_back(graph, id, users);
  const std::set<NodeId> whole = back ? names_of_memory(graph, *back) : std::set<NodeId>();
  for (NodeId other = 0; other < id; ++other) {
    if (names.contains(other) || ir::base_of(graph, other) != base) continue;
    // The tensor that it is a part of has the new elements once they are stored back.
    const NodeId known = whole.contains(other) ? *back : graph.size();
    if (std::ranges::any_of(users[other], [&](NodeId user) { return user > id && user < known; })) return true;
  }
  return false;
}

Result<void> check_old_values(const Subject& subject, const GraphPart& part) {
  const ir::Graph& graph = subject.graph;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  for (const NodeId id : part.nodes) {
    for (const NodeId old : names_of_memory(graph, id)) {
      const auto is_used = [&](const auto& when) {
        return std::ranges::any_of(users[old], [&](NodeId user) { return !is_in(part, user) && when(user); });
      };
      if (is_in(part, old) && is_used([id](NodeId user) { return user < id; }))
        return unsupported("what it overwrites is looked at by others before");
      if (!is_in(part, old) && ir::base_of(graph, old) >= subject.body() &&
          is_used([id](NodeId user) { return user > id; }))
        return unsupported("what it overwrites is looked at by others later");
    }
  }
  return {};
}

Result<std::vector<TensorId>> overwrite_inputs(const Subject& subject, Definitions& definitions,
                                               const GraphPart& part) {
  const ir::Graph& graph = subject.graph;
  std::map<NodeId, NodeId> last;  // by the input of the graph
  for (const NodeId id : part.nodes) {
    const NodeId base = ir::base_of(graph, id);
    if (ir::overwrites_input(graph, id) && base < subject.body()) last[base] = id;
  }
  std::vector<TensorId> stored;
  for (const auto& [input, id] : last) {
    NodeId given = id;
    while (is_in(part, given)) {
      given = ir::overwritten_input(graph, given);
      if (given == ir::kNoNode) return unsupported("it overwrites a view of an input of the graph");
    }
    const std::optional<TensorId> value = definitions.tensor_of(id), place = definitions.given(given);
    if (!value || !place) return unsupported("it overwrites what is no tensor");
    PASSNET_TRY_VOID(definitions.overwrite(*value, *place));
    stored.push_back(*value);
  }
  return stored;
}

}  // namespace passnet::author
