// Part of legality.h: who could tell that a replacement's results are new memory.
#include <algorithm>

#include <fmt/format.h>

#include "rewrite/legality.h"

namespace passnet::rewrite {

using ir::NodeId;

namespace {

/// Where a value comes from after the replacement: from one of its outputs (1, 2, …), or from elsewhere.
using Origin = uint32_t;
constexpr Origin kElsewhere = 0;
constexpr Origin kSeveral = ~Origin{0};

/// Accesses outside an occurrence to memory that it shares with the rest of the graph.
class Accesses {
 public:
  Accesses(const Occurrence& occurrence, const ir::Graph& graph, const Order& order)
      : occurrence_(occurrence), graph_(graph), order_(order), origin_(graph.size(), kElsewhere) {
    const auto& outputs = occurrence.pattern.outputs;
    for (size_t i = 0; i < outputs.size(); ++i) origin_[occurrence.assignment.node(outputs[i])] = static_cast<Origin>(i + 1);
    for (NodeId id = occurrence.nodes.front(); id < graph.size(); ++id) {
      if (occurrence.contains(id)) continue;
      for_each_aliased_input(graph, id, [&](NodeId input) {
        if (origin_[id] == kElsewhere) origin_[id] = origin_[input];
        else if (origin_[input] != kElsewhere && origin_[input] != origin_[id]) origin_[id] = kSeveral;
      });
    }
  }

  Origin origin(NodeId id) const { return origin_[id]; }

  /// The first node after `id` that touches `memory` through a value whose origin `fits`; kNoNode when there is none.
  template <class Fits>
  NodeId access_after(NodeId id, NodeId memory, Fits fits) const {
    for (NodeId at = id + 1; at < graph_.size(); ++at) {
      if (occurrence_.contains(at)) continue;
      bool hit = false;
      ir::for_each_input(graph_, graph_.node(at), [&](NodeId input) {
        const bool inner = occurrence_.contains(input) && origin_[input] == kElsewhere;
        hit = hit || (!inner && order_.memory(input) == memory && fits(origin_[input]));
      });
      if (hit) return at;
    }
    return ir::kNoNode;
  }

  /// The memory a node overwrites; kNoNode when it overwrites none.
  NodeId written_by(NodeId id) const {
    const NodeId target = order_.writes(id) ? first_input(graph_, id) : ir::kNoNode;
    return target == ir::kNoNode ? target : order_.memory(target);
  }

 private:
  const Occurrence& occurrence_;
  const ir::Graph& graph_;
  const Order& order_;
  std::vector<Origin> origin_;  // by node id
};

/// Memories that are written somewhere, of the values that go in and out, each once.
std::vector<NodeId> written_memories(const Occurrence& occurrence, const Order& order) {
  std::vector<NodeId> memories;
  const auto add = [&](NodeId pattern_id) {
    const NodeId bound = occurrence.assignment.node(pattern_id);
    if (bound != ir::kNoNode && order.is_written(order.memory(bound))) memories.push_back(order.memory(bound));
  };
  for (NodeId id = 0; id < occurrence.pattern.graph->placeholder_count(); ++id) add(id);
  for (const NodeId id : occurrence.pattern.outputs) add(id);
  std::sort(memories.begin(), memories.end());
  memories.erase(std::unique(memories.begin(), memories.end()), memories.end());
  return memories;
}

/// Values that share memory in the graph but not in the pattern must not be overwritten inside: `x += 1; return x * y`
/// is something else when y is a view of x.
std::optional<Refusal> check_aliased_inputs(const Occurrence& occurrence, const ir::Graph& graph, const Order& order) {
  const Pattern& pattern = occurrence.pattern;
  const Order& ours = pattern.prepared->order();
  for (const NodeId writer : pattern.calls) {
    const NodeId target = ours.writes(writer) ? first_input(*pattern.graph, writer) : ir::kNoNode;
    if (target == ir::kNoNode || occurrence.assignment.node(target) == ir::kNoNode) continue;
    const NodeId memory = order.memory(occurrence.assignment.node(target));
    for (NodeId value = 0; value < pattern.graph->size(); ++value) {
      const NodeId bound = occurrence.assignment.node(value);
      if (bound == ir::kNoNode || order.memory(bound) != memory || ours.memory(value) == ours.memory(target)) continue;
      return Refusal{writer, occurrence.assignment.node(writer),
                     fmt::format("'{}' overwrites '{}', which shares memory with '{}'; in the pattern they are apart",
                                 graph.node(occurrence.assignment.node(writer)).name,
                                 graph.node(occurrence.assignment.node(target)).name, graph.node(bound).name)};
    }
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> check_shared_memory(const Occurrence& occurrence, PreparedGraph& prepared) {
  const ir::Graph& graph = prepared.graph();
  const Order& order = prepared.order();
  const std::vector<NodeId> memories = written_memories(occurrence, order);
  if (memories.empty()) return std::nullopt;
  if (auto refusal = check_aliased_inputs(occurrence, graph, order)) return refusal;
  const Accesses accesses(occurrence, graph, order);
  const auto name = [&](NodeId id) { return graph.node(id).name; };
  for (NodeId writer = occurrence.nodes.front(); writer < graph.size(); ++writer) {
    const NodeId memory = accesses.written_by(writer);
    if (!std::binary_search(memories.begin(), memories.end(), memory)) continue;
    const NodeId target = first_input(graph, writer);
    const bool inside = occurrence.contains(writer);
    const Origin own = accesses.origin(target);
    // What the occurrence overwrites stays as it was in the rewritten graph, and its results are memories of their own:
    // a write must not be seen through a value of another origin.
    const NodeId other = accesses.access_after(writer, memory, [&](Origin origin) {
      return inside ? origin == kElsewhere : origin != own || own == kSeveral;
    });
    if (other == ir::kNoNode) continue;
    if (!inside)
      return Refusal{occurrence.pattern.outputs.front(), occurrence.assignment.node(occurrence.pattern.outputs.front()),
                     fmt::format("results of the match share memory with what '{}'{} overwrites and '{}'{} uses", name(writer),
                                 at_line(graph, writer), name(other), at_line(graph, other))};
    const auto found = std::lower_bound(occurrence.nodes.begin(), occurrence.nodes.end(), writer);
    return Refusal{occurrence.pattern_of[static_cast<size_t>(found - occurrence.nodes.begin())], writer,
                   fmt::format("'{}' overwrites '{}', which '{}'{} uses afterwards", name(writer), name(target), name(other),
                               at_line(graph, other))};
  }
  return std::nullopt;
}

}  // namespace passnet::rewrite
