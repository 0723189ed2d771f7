// Part of legality.h: who could tell that a replacement's results are new memory.
#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "ir/ops/memory.h"
#include "rewrite/legality.h"

namespace passnet::rewrite {

using ir::NodeId;

namespace {

/// Where a value comes from after the replacement: from one of its outputs (1, 2, …), or from elsewhere.
using Origin = uint32_t;
constexpr Origin kElsewhere = 0;
constexpr Origin kSeveral = ~Origin{0};

/// Accesses to one memory from the first call of an occurrence on, and where the values come from that they
/// go through.
class Accesses {
 public:
  Accesses(const Occurrence& occurrence, const ir::Graph& graph, const Order& order, NodeId memory)
      : occurrence_(occurrence), graph_(graph), order_(order), memory_(memory) {
    const auto& outputs = occurrence.pattern.outputs;
    for (size_t i = 0; i < outputs.size(); ++i)
      origin_[occurrence.assignment.node(outputs[i])] = static_cast<Origin>(i + 1);
    const auto all = order.accesses(memory);
    nodes_ = all.subspan(
        static_cast<size_t>(std::lower_bound(all.begin(), all.end(), occurrence.nodes.front()) - all.begin()));
    for (const NodeId id : nodes_) {
      if (occurrence.contains(id)) continue;
      for_each_aliased_input(graph, id, [&](NodeId input) {
        const Origin from = origin(input);
        if (from == kElsewhere) return;
        Origin& own = origin_[id];
        own = own == kElsewhere || own == from ? from : kSeveral;
      });
    }
  }

  std::span<const NodeId> nodes() const { return nodes_; }

  Origin origin(NodeId id) const {
    const auto found = origin_.find(id);
    return found == origin_.end() ? kElsewhere : found->second;
  }

  /// The first access after `id`, outside the occurrence, through a value whose origin `fits`; kNoNode
  /// without one.
  template <class Fits>
  NodeId access_after(NodeId id, Fits fits) const {
    for (const NodeId at : nodes_) {
      if (at <= id || occurrence_.contains(at)) continue;
      bool hit = false;
      ir::for_each_input(graph_, graph_.node(at), [&](NodeId input) {
        const bool inner = occurrence_.contains(input) && origin(input) == kElsewhere;
        hit = hit || (!inner && order_.memory(input) == memory_ && fits(origin(input)));
      });
      if (hit) return at;
    }
    return ir::kNoNode;
  }

  /// The node overwrites this memory.
  bool is_write(NodeId id) const {
    const NodeId target = order_.overwritten(id);
    return target != ir::kNoNode && order_.memory(target) == memory_;
  }

 private:
  const Occurrence& occurrence_;
  const ir::Graph& graph_;
  const Order& order_;
  NodeId memory_;
  std::span<const NodeId> nodes_;
  std::unordered_map<NodeId, Origin> origin_;  // of values that do not come from elsewhere
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

/// Values that share memory in the graph but not in the pattern must not be overwritten inside: `x += 1;
/// return x * y` is something else when y is a view of x.
std::optional<Refusal> check_aliased_inputs(const Occurrence& occurrence, const ir::Graph& graph, const Order& order,
                                            Budget& steps) {
  const Pattern& pattern = occurrence.pattern;
  const Order& ours = pattern.prepared->order();
  for (const NodeId writer : pattern.calls) {
    const NodeId target = ours.overwritten(writer);
    if (target == ir::kNoNode || occurrence.assignment.node(target) == ir::kNoNode) continue;
    if (!steps.charge(pattern.graph->size())) break;
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

/// A write to `memory` that is seen, or not seen, through a value of another origin than the one written
/// through.
std::optional<Refusal> check_memory(const Occurrence& occurrence, const PreparedGraph& prepared, const Order& order,
                                    NodeId memory, Budget& steps) {
  const ir::Graph& graph = prepared.graph();
  if (!steps.charge(4 * order.accesses(memory).size())) return std::nullopt;
  const Accesses accesses(occurrence, graph, order, memory);
  const auto name = [&](NodeId id) { return graph.node(id).name; };
  for (const NodeId writer : accesses.nodes()) {
    if (!accesses.is_write(writer)) continue;
    if (!steps.charge(accesses.nodes().size())) return std::nullopt;
    const NodeId target = order.overwritten(writer);
    const Origin own = accesses.origin(target);
    const bool inside = occurrence.contains(writer);
    // What the occurrence overwrites stays as it was in the rewritten graph, and its results are memories of
    // their own.
    const NodeId other = accesses.access_after(
        writer, [&](Origin origin) { return inside ? origin == kElsewhere : origin != own || own == kSeveral; });
    if (other == ir::kNoNode) continue;
    if (!inside)
      return Refusal{occurrence.pattern.outputs.front(), occurrence.assignment.node(occurrence.pattern.outputs.front()),
                     fmt::format("results of the match share memory with what '{}'{} overwrites and '{}'{} uses",
                                 name(writer), prepared.at_line(writer), name(other), prepared.at_line(other))};
    const auto found = std::lower_bound(occurrence.nodes.begin(), occurrence.nodes.end(), writer);
    return Refusal{occurrence.pattern_of[static_cast<size_t>(found - occurrence.nodes.begin())], writer,
                   fmt::format("'{}' overwrites '{}', which '{}'{} uses afterwards", name(writer), name(target),
                               name(other), prepared.at_line(other))};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Refusal> check_shared_memory(const Occurrence& occurrence, PreparedGraph& prepared, Budget& steps) {
  const Order& order = prepared.order();
  const std::vector<NodeId> memories = written_memories(occurrence, order);
  if (memories.empty()) return std::nullopt;
  if (auto refusal = check_aliased_inputs(occurrence, prepared.graph(), order, steps)) return refusal;
  for (const NodeId memory : memories) {
    if (auto refusal = check_memory(occurrence, prepared, order, memory, steps)) return refusal;
  }
  return std::nullopt;
}

}  // namespace passnet::rewrite
