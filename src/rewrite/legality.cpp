#include "rewrite/legality.h"

#include <algorithm>

#include <fmt/format.h>

namespace passnet::rewrite {

using ir::NodeId;

namespace {

bool contains(const std::vector<NodeId>& sorted, NodeId id) {
  return std::binary_search(sorted.begin(), sorted.end(), id);
}

bool is_output(const ir::Graph& graph, NodeId id) { return graph.node(id).kind == ir::NodeKind::Output; }

}  // namespace

Legality::Legality(PreparedGraph& graph) : graph_(graph), site_of_(graph.graph().size(), kNoSite) {}

std::string Legality::at_line(NodeId id) const {
  const SourceLoc at = graph_.graph().locate(graph_.graph().node(id));
  return at.line == 0 ? "" : fmt::format(" at line {}", at.line);
}

Legality::Candidate Legality::make_candidate(const Pattern& pattern, const Assignment& assignment) const {
  std::vector<std::pair<NodeId, NodeId>> pairs;
  for (const NodeId call : pattern.calls) pairs.emplace_back(assignment.node(call), call);
  std::sort(pairs.begin(), pairs.end());
  Candidate candidate{pattern, assignment, {}, {}};
  for (const auto& [node, call] : pairs) {
    candidate.nodes.push_back(node);
    candidate.pattern_of.push_back(call);
  }
  return candidate;
}

std::optional<Refusal> Legality::check(const Pattern& pattern, const Assignment& assignment) {
  const Candidate candidate = make_candidate(pattern, assignment);
  if (auto refusal = check_overlap(candidate)) return refusal;
  if (auto refusal = check_inputs(candidate)) return refusal;
  if (auto refusal = check_escape(candidate)) return refusal;
  if (auto refusal = check_cycle(candidate)) return refusal;
  return check_shared_memory(candidate);
}

void Legality::accept(const Pattern& pattern, const Assignment& assignment) {
  Candidate candidate = make_candidate(pattern, assignment);
  for (const NodeId id : candidate.nodes) site_of_[id] = static_cast<uint32_t>(sites_.size());
  sites_.push_back({std::move(candidate.nodes)});
}

std::optional<Refusal> Legality::check_overlap(const Candidate& candidate) const {
  for (size_t i = 0; i < candidate.nodes.size(); ++i) {
    const NodeId id = candidate.nodes[i];
    if (is_taken(id))
      return Refusal{candidate.pattern_of[i], id,
                     fmt::format("'{}' already belongs to an earlier match", graph_.graph().node(id).name)};
  }
  return std::nullopt;
}

std::optional<Refusal> Legality::check_inputs(const Candidate& candidate) const {
  for (NodeId id = 0; id < candidate.pattern.graph->placeholder_count(); ++id) {
    const NodeId bound = candidate.assignment.node(id);
    if (bound != ir::kNoNode && contains(candidate.nodes, bound))
      return Refusal{id, bound,
                     fmt::format("pattern input '{}' would be '{}', which the match itself computes",
                                 candidate.pattern.graph->node(id).name, graph_.graph().node(bound).name)};
  }
  return std::nullopt;
}

std::optional<Refusal> Legality::check_escape(const Candidate& candidate) {
  const ir::Graph& graph = graph_.graph();
  for (size_t i = 0; i < candidate.nodes.size(); ++i) {
    if (candidate.pattern.is_output[candidate.pattern_of[i]]) continue;
    const NodeId id = candidate.nodes[i];
    for (const NodeId user : graph_.users(id)) {
      if (contains(candidate.nodes, user)) continue;
      const std::string_view inner = graph.node(id).name;
      return Refusal{candidate.pattern_of[i], id,
                     is_output(graph, user)
                         ? fmt::format("inner value '{}' is also returned by the graph{}", inner, at_line(user))
                         : fmt::format("inner value '{}' is also used by '{}'{}", inner, graph.node(user).name,
                                       at_line(user))};
    }
  }
  return std::nullopt;
}

/// Without occurrences in between, every path runs forward in the graph and need not be followed past the match.
NodeId Legality::path_limit(const Candidate& candidate) const {
  for (const Site& site : sites_) {
    if (site.nodes.front() <= candidate.nodes.back() && candidate.nodes.front() <= site.nodes.back())
      return graph_.graph().size();
  }
  return candidate.nodes.back();
}

/// Follows everything that must come after the match; when that leads back into it, one call cannot stand for it.
std::optional<Refusal> Legality::check_cycle(const Candidate& candidate) {
  const Order& order = graph_.order();
  const NodeId limit = path_limit(candidate);
  came_from_.resize(graph_.graph().size(), ir::kNoNode);
  std::vector<NodeId> visited, open;
  NodeId back = ir::kNoNode;
  const auto visit = [&](NodeId from, NodeId to) {
    came_from_[to] = from;
    visited.push_back(to);
    open.push_back(to);
  };
  const auto follow = [&](NodeId from) {
    const bool from_inside = contains(candidate.nodes, from);
    for (const Order::Edge& edge : order.successors(from)) {
      if (edge.to > limit || came_from_[edge.to] != ir::kNoNode) continue;
      const bool inside = contains(candidate.nodes, edge.to);
      if (inside && from_inside) continue;
      visit(from, edge.to);
      if (inside && back == ir::kNoNode) back = edge.to;
    }
  };
  for (const NodeId id : candidate.nodes) follow(id);
  while (!open.empty() && back == ir::kNoNode) {
    const NodeId id = open.back();
    open.pop_back();
    follow(id);
    if (!is_taken(id)) continue;
    for (const NodeId other : sites_[site_of_[id]].nodes) {
      if (came_from_[other] == ir::kNoNode) visit(id, other);
    }
  }
  std::optional<Refusal> refusal;
  if (back != ir::kNoNode) refusal = explain_cycle(candidate, back);
  for (const NodeId id : visited) came_from_[id] = ir::kNoNode;
  return refusal;
}

Refusal Legality::explain_cycle(const Candidate& candidate, NodeId last) const {
  const ir::Graph& graph = graph_.graph();
  const Order& order = graph_.order();
  const size_t at = static_cast<size_t>(std::lower_bound(candidate.nodes.begin(), candidate.nodes.end(), last) -
                                        candidate.nodes.begin());
  Refusal refusal{candidate.pattern_of[at], last, ""};
  NodeId outside = last;
  for (NodeId node = last;;) {
    const NodeId from = came_from_[node];
    for (const Order::Edge& edge : order.successors(from)) {
      if (edge.to != node || edge.why == Order::Why::Data) continue;
      if (edge.why == Order::Why::Memory) {
        const NodeId writer = order.writes(node) ? node : from;
        refusal.reason = fmt::format("'{}'{} overwrites '{}' between the operators of the match", graph.node(writer).name,
                                     at_line(writer), graph.node(first_input(graph, writer)).name);
        return refusal;
      }
      const ir::OpSignature* signature = ir::find_signature(graph.node(from));
      const NodeId barrier = signature && signature->barrier ? from : node;
      refusal.reason = fmt::format("'{}'{} changes how operators run, between the operators of the match",
                                   graph.node(barrier).name, at_line(barrier));
      return refusal;
    }
    if (contains(candidate.nodes, from)) {
      refusal.reason = fmt::format(
          "the replacement would depend on itself: '{}'{} uses '{}' of the match, and '{}' of the match needs it",
          graph.node(outside).name, at_line(outside), graph.node(from).name, graph.node(last).name);
      return refusal;
    }
    outside = node = from;
  }
}

namespace {

/// Accesses, outside a match, to a memory that the match reads.
class Accesses {
 public:
  Accesses(const ir::Graph& graph, const Order& order, const std::vector<NodeId>& matched,
           const std::vector<NodeId>& outputs)
      : graph_(graph), order_(order), matched_(matched), replaced_(graph.size()) {
    for (const NodeId id : outputs) replaced_[id] = true;
    for (NodeId id = matched.front(); id < graph.size(); ++id) {
      if (contains(matched, id)) continue;
      for_each_aliased_input(graph, id, [&](NodeId input) { replaced_[id] = replaced_[id] || replaced_[input]; });
    }
  }

  /// The first node after `id` that reads or writes `memory` through a value the replacement makes (replaced), or
  /// through one that exists without it; kNoNode when there is none.
  NodeId first_after(NodeId id, NodeId memory, bool replaced) const {
    for (NodeId at = id + 1; at < graph_.size(); ++at) {
      if (contains(matched_, at)) continue;
      bool hit = false;
      ir::for_each_input(graph_, graph_.node(at), [&](NodeId input) {
        hit |= order_.memory(input) == memory && replaced_[input] == replaced && !inner(input);
      });
      if (hit) return at;
    }
    return ir::kNoNode;
  }

  bool is_replaced(NodeId id) const { return replaced_[id]; }

 private:
  bool inner(NodeId id) const { return contains(matched_, id) && !replaced_[id]; }

  const ir::Graph& graph_;
  const Order& order_;
  const std::vector<NodeId>& matched_;
  std::vector<bool> replaced_;
};

}  // namespace

/// The replacement computes new values: it neither overwrites its inputs nor returns views of them.
std::optional<Refusal> Legality::check_shared_memory(const Candidate& candidate) {
  const ir::Graph& graph = graph_.graph();
  const Order& order = graph_.order();
  std::vector<NodeId> outputs;
  for (const NodeId id : candidate.pattern.outputs) outputs.push_back(candidate.assignment.node(id));
  std::optional<Accesses> accesses;
  for (NodeId input = 0; input < candidate.pattern.graph->placeholder_count(); ++input) {
    const NodeId bound = candidate.assignment.node(input);
    if (bound == ir::kNoNode || !order.is_written(order.memory(bound))) continue;
    const NodeId memory = order.memory(bound);
    if (!accesses) accesses.emplace(graph, order, candidate.nodes, outputs);
    for (size_t i = 0; i < candidate.nodes.size(); ++i) {
      const NodeId id = candidate.nodes[i];
      const NodeId target = order.writes(id) ? first_input(graph, id) : ir::kNoNode;
      if (target == ir::kNoNode || order.memory(target) != memory) continue;
      if (const NodeId later = accesses->first_after(id, memory, false); later != ir::kNoNode)
        return Refusal{candidate.pattern_of[i], id,
                       fmt::format("'{}' overwrites the pattern's input '{}', which '{}'{} uses afterwards",
                                   graph.node(id).name, graph.node(bound).name, graph.node(later).name, at_line(later))};
    }
    for (size_t i = 0; i < candidate.nodes.size(); ++i) {
      const NodeId id = candidate.nodes[i];
      if (!accesses->is_replaced(id) || order.memory(id) != memory) continue;
      for (NodeId writer = candidate.nodes.front(); writer < graph.size(); ++writer) {
        const NodeId target = order.writes(writer) && !contains(candidate.nodes, writer) ? first_input(graph, writer) : ir::kNoNode;
        if (target == ir::kNoNode || order.memory(target) != memory) continue;
        if (accesses->first_after(writer, memory, !accesses->is_replaced(target)) == ir::kNoNode) continue;
        return Refusal{candidate.pattern_of[i], id,
                       fmt::format("'{}' shares memory with the pattern's input '{}', and '{}'{} overwrites it",
                                   graph.node(id).name, graph.node(bound).name, graph.node(writer).name, at_line(writer))};
      }
    }
  }
  return std::nullopt;
}

}  // namespace passnet::rewrite
