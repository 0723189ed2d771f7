#include "rewrite/legality.h"

#include <fmt/format.h>

#include <algorithm>

namespace passnet::rewrite {

using ir::NodeId;

Occurrence::Occurrence(const Pattern& of, const Assignment& found) : pattern(of), assignment(found) {
  std::vector<std::pair<NodeId, NodeId>> pairs;
  for (const NodeId call : pattern.calls) pairs.emplace_back(assignment.node(call), call);
  std::sort(pairs.begin(), pairs.end());
  for (const auto& [node, call] : pairs) {
    nodes.push_back(node);
    pattern_of.push_back(call);
  }
}

bool Occurrence::contains(NodeId id) const { return std::binary_search(nodes.begin(), nodes.end(), id); }

namespace {

bool is_output(const ir::Graph& graph, NodeId id) { return graph.node(id).kind == ir::NodeKind::Output; }

}  // namespace

Legality::Legality(PreparedGraph& graph, Budget& steps)
    : graph_(graph), steps_(steps), site_of_(graph.graph().size(), kNoSite) {}

std::optional<Refusal> Legality::check(const Pattern& pattern, const Assignment& assignment) {
  if (!steps_.charge(4 * pattern.calls.size())) return std::nullopt;
  const Occurrence occurrence(pattern, assignment);
  if (auto refusal = check_overlap(occurrence)) return refusal;
  if (auto refusal = check_inputs(occurrence)) return refusal;
  if (auto refusal = check_escape(occurrence)) return refusal;
  if (auto refusal = check_cycle(occurrence)) return refusal;
  return check_shared_memory(occurrence, graph_, steps_);
}

void Legality::accept(const Pattern& pattern, const Assignment& assignment) {
  Occurrence occurrence(pattern, assignment);
  for (const NodeId id : occurrence.nodes) site_of_[id] = static_cast<uint32_t>(sites_.size());
  NodeId first = occurrence.nodes.front(), last = occurrence.nodes.back();
  for (auto at = overlapping(first, last); at != covered_.end(); at = overlapping(first, last)) {
    first = std::min(first, at->first);
    last = std::max(last, at->second);
    covered_.erase(at);
  }
  covered_[first] = last;
  sites_.push_back(std::move(occurrence.nodes));
}

std::map<NodeId, NodeId>::const_iterator Legality::overlapping(NodeId first, NodeId last) const {
  auto at = covered_.upper_bound(last);
  if (at == covered_.begin()) return covered_.end();
  --at;
  return at->second >= first ? at : covered_.end();
}

std::optional<Refusal> Legality::check_overlap(const Occurrence& occurrence) const {
  for (size_t i = 0; i < occurrence.nodes.size(); ++i) {
    const NodeId id = occurrence.nodes[i];
    if (is_taken(id))
      return Refusal{occurrence.pattern_of[i], id,
                     fmt::format("'{}' already belongs to an earlier match", graph_.graph().node(id).name)};
  }
  return std::nullopt;
}

std::optional<Refusal> Legality::check_inputs(const Occurrence& occurrence) const {
  for (NodeId id = 0; id < occurrence.pattern.graph->placeholder_count(); ++id) {
    const NodeId bound = occurrence.assignment.node(id);
    if (bound != ir::kNoNode && occurrence.contains(bound))
      return Refusal{id, bound,
                     fmt::format("pattern input '{}' would be '{}', which the match itself computes",
                                 occurrence.pattern.graph->node(id).name, graph_.graph().node(bound).name)};
  }
  return std::nullopt;
}

std::optional<Refusal> Legality::check_escape(const Occurrence& occurrence) {
  const ir::Graph& graph = graph_.graph();
  for (size_t i = 0; i < occurrence.nodes.size(); ++i) {
    if (occurrence.pattern.is_output[occurrence.pattern_of[i]]) continue;
    const NodeId id = occurrence.nodes[i];
    for (const NodeId user : graph_.users(id)) {
      if (!steps_.charge(1)) return std::nullopt;
      if (occurrence.contains(user)) continue;
      const std::string_view inner = graph.node(id).name;
      return Refusal{occurrence.pattern_of[i], id,
                     is_output(graph, user)
                         ? fmt::format("inner value '{}' is also returned by the graph{}", inner, graph_.at_line(user))
                         : fmt::format("inner value '{}' is also used by '{}'{}", inner, graph.node(user).name,
                                       graph_.at_line(user))};
    }
  }
  return std::nullopt;
}

/// Without occurrences in between, every path runs forward in the graph and need not be followed past the
/// match.
NodeId Legality::path_limit(const Occurrence& occurrence) const {
  const NodeId first = occurrence.nodes.front(), last = occurrence.nodes.back();
  return overlapping(first, last) == covered_.end() ? last : graph_.graph().size();
}

/// Follows everything that must come after the match; when that leads back into it, one call cannot stand for
/// it.
std::optional<Refusal> Legality::check_cycle(const Occurrence& occurrence) {
  const Order& order = graph_.order();
  const NodeId limit = path_limit(occurrence);
  came_from_.resize(graph_.graph().size(), ir::kNoNode);
  std::vector<NodeId> visited, open;
  NodeId back = ir::kNoNode;
  const auto visit = [&](NodeId from, NodeId to) {
    came_from_[to] = from;
    visited.push_back(to);
    open.push_back(to);
  };
  const auto follow = [&](NodeId from) {
    if (!steps_.charge(1 + order.successors(from).size())) return;
    const bool from_inside = occurrence.contains(from);
    for (const Order::Edge& edge : order.successors(from)) {
      if (edge.to > limit || came_from_[edge.to] != ir::kNoNode) continue;
      const bool inside = occurrence.contains(edge.to);
      if (inside && from_inside) continue;
      visit(from, edge.to);
      if (inside && back == ir::kNoNode) back = edge.to;
    }
  };
  for (const NodeId id : occurrence.nodes) follow(id);
  while (!open.empty() && back == ir::kNoNode && steps_.check()) {
    const NodeId id = open.back();
    open.pop_back();
    follow(id);
    if (!is_taken(id)) continue;
    for (const NodeId other : sites_[site_of_[id]]) {
      if (came_from_[other] == ir::kNoNode) visit(id, other);
    }
  }
  std::optional<Refusal> refusal;
  if (back != ir::kNoNode) refusal = explain_cycle(occurrence, back);
  for (const NodeId id : visited) came_from_[id] = ir::kNoNode;
  return refusal;
}

Refusal Legality::explain_cycle(const Occurrence& occurrence, NodeId last) const {
  const ir::Graph& graph = graph_.graph();
  const Order& order = graph_.order();
  const size_t at = static_cast<size_t>(std::lower_bound(occurrence.nodes.begin(), occurrence.nodes.end(), last) -
                                        occurrence.nodes.begin());
  Refusal refusal{occurrence.pattern_of[at], last, ""};
  NodeId outside = last;
  for (NodeId node = last;;) {
    const NodeId from = came_from_[node];
    for (const Order::Edge& edge : order.successors(from)) {
      if (edge.to != node || edge.why == Order::Why::Data) continue;
      if (edge.why == Order::Why::Memory) {
        const NodeId writer = order.overwritten(node) != ir::kNoNode ? node : from;
        refusal.reason =
            fmt::format("'{}'{} overwrites '{}' between the operators of the match", graph.node(writer).name,
                        graph_.at_line(writer), graph.node(order.overwritten(writer)).name);
        return refusal;
      }
      const ir::OpSignature* signature = ir::find_signature(graph.node(from));
      const NodeId barrier = signature && signature->barrier ? from : node;
      refusal.reason = fmt::format("'{}'{} changes how operators run, between the operators of the match",
                                   graph.node(barrier).name, graph_.at_line(barrier));
      return refusal;
    }
    if (occurrence.contains(from)) {
      refusal.reason = fmt::format(
          "the replacement would depend on itself: '{}'{} uses '{}' of the match, and '{}' of the match "
          "needs it",
          graph.node(outside).name, graph_.at_line(outside), graph.node(from).name, graph.node(last).name);
      return refusal;
    }
    outside = node = from;
  }
}

}  // namespace passnet::rewrite
