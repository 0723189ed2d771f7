#include "author/take/part_views.h"

#include <algorithm>
#include <utility>

#include "author/subject/memory.h"
#include "author/take/region.h"
#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::ArgKind;
using ir::NodeId;

namespace {

/// Tells whether it has memory of its own, in the order of its elements in all graphs.
bool lies_in_order(const Subject& subject, NodeId id) {
  return std::ranges::all_of(subject.types, [&](const std::vector<ValueType>& types) {
    return types[id].is_tensor() && types[id].tensor.is_contiguous();
  });
}

/// Tells whether the view is another shape of a value that nobody else looks at, and the part goes on with that shape:
/// it is stored in its place, in one loop with what follows from it.
bool stands_for_its_base(const Subject& subject, const GraphPart& part, NodeId id) {
  const ir::Graph& graph = subject.graph;
  if (subject.is_list(id) || std::ranges::find(part.outputs, id) == part.outputs.end()) return false;
  const NodeId base = graph.args(id)[0].node;
  if (!is_in(part, base) || subject.is_list(base) || shares_memory(subject, base)) return false;
  if (!lies_in_order(subject, id) || !lies_in_order(subject, base)) return false;
  if (subject.types[0][id].tensor.numel() != subject.types[0][base].tensor.numel()) return false;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  return users[base].size() == 1 && std::ranges::any_of(users[id], [&](NodeId user) {
           return is_in(part, user) && !shares_memory(subject, user);
         });
}

bool is_view(const Subject& subject, const GraphPart& part, NodeId id) {
  return is_in(part, id) && shares_memory(subject, id) && !stands_for_its_base(subject, part, id);
}

}  // namespace

std::vector<NodeId> view_chain(const Subject& subject, const GraphPart& part, NodeId id) {
  std::vector<NodeId> chain;
  while (is_view(subject, part, id)) {
    // A part of a tuple is a view of what the tuple was made of.
    if (!subject.is_list(id)) chain.insert(chain.begin(), id);
    id = subject.graph.args(id)[0].node;
  }
  return chain;
}

NodeId holder_of(const Subject& subject, const GraphPart& part, NodeId id) {
  while (is_view(subject, part, id)) id = subject.graph.args(id)[0].node;
  return id;
}

std::optional<NodeId> same_in_some(const Subject& subject, const GraphPart& part, NodeId id) {
  const ir::Graph& graph = subject.graph;
  const auto is_stored = [&](NodeId one) {
    if (ir::overwrites_input(graph, one) && ir::base_of(graph, one) < subject.body()) return true;
    return std::ranges::any_of(part.outputs, [&](NodeId output) { return holder_of(subject, part, output) == one; });
  };
  // By graph: whether all up to there share.
  std::vector<bool> same(subject.examples.size(), true);
  NodeId at = id;
  while (is_in(part, at) && (at == id || !is_stored(at))) {
    const std::vector<bool> shares = where_shares_memory(subject, at);
    for (size_t i = 0; i < same.size(); ++i) same[i] = same[i] && shares[i];
    if (std::ranges::find(same, true) == same.end()) return std::nullopt;
    at = graph.args(at)[0].node;
  }
  return at == id ? std::nullopt : std::optional(at);
}

Result<GraphPart> without_views(const Subject& subject, GraphPart part) {
  const std::vector<std::vector<NodeId>> users = ir::users(subject.graph);
  for (bool changed = true; changed && !part.nodes.empty();) {
    std::vector<NodeId> rest;
    for (const NodeId id : part.nodes) {
      const auto goes_on = [&](NodeId one) {
        return std::ranges::any_of(users[one], [&](NodeId user) { return is_in(part, user); });
      };
      // A tuple is taken apart in one place: all its parts stay where one of them does.
      const auto args = subject.graph.args(id);
      const bool is_part = !args.empty() && args[0].kind == ArgKind::Node && subject.is_list(args[0].node);
      const bool stays = goes_on(id) || (is_part && std::ranges::any_of(users[args[0].node], goes_on));
      if (stays || !shares_memory(subject, id)) rest.push_back(id);
    }
    changed = rest.size() != part.nodes.size();
    part = cut(subject.graph, std::move(rest));
  }
  if (part.nodes.empty()) return unsupported("it only moves what it is given");
  for (const NodeId id : part.outputs) {
    for (const NodeId view : view_chain(subject, part, id)) {
      if (std::ranges::find(part.views, view) == part.views.end()) part.views.push_back(view);
    }
  }
  std::ranges::sort(part.views);
  return part;
}

GraphPart with_views_of_calls(const Subject& subject, GraphPart part, const std::map<NodeId, std::string>& calls) {
  for (const auto& [call, why] : calls) {
    if (!is_in(part, call)) continue;
    ir::for_each_input(subject.graph, subject.graph.node(call), [&](NodeId input) {
      for (const NodeId view : view_chain(subject, part, input)) {
        if (std::ranges::find(part.views, view) == part.views.end()) part.views.push_back(view);
      }
    });
  }
  std::ranges::sort(part.views);
  return part;
}

}  // namespace passnet::author
