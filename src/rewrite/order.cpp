#include "rewrite/order.h"

#include <numeric>

#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::rewrite {

using ir::NodeId;

struct Order::Builder {
  const ir::Graph& graph;
  Order& order;
  std::vector<std::pair<NodeId, Edge>> edges;

  void find_writes() {
    order.written_.resize(graph.size());
    for (NodeId id = 0; id < graph.size(); ++id) {
      const NodeId target = order.overwritten_.emplace_back(ir::overwritten_input(graph, id));
      if (target != ir::kNoNode) order.written_[order.memory_[target]] = true;
    }
  }

  void add(NodeId from, NodeId to, Why why) {
    if (from != to) edges.push_back({from, {to, why}});
  }

  void add_data() {
    for (NodeId id = 0; id < graph.size(); ++id)
      ir::for_each_input(graph, graph.node(id), [&](NodeId input) { add(input, id, Why::Data); });
  }

  /// Every read comes after the write before it, every write after all accesses before it.
  void add_memory() {
    struct State {
      NodeId last_write = ir::kNoNode;
      std::vector<NodeId> reads;  // since the last write
    };
    std::unordered_map<NodeId, State> states;
    for (NodeId id = 0; id < graph.size(); ++id) {
      const NodeId target = order.overwritten_[id];
      const NodeId written = target == ir::kNoNode ? target : order.memory_[target];
      ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
        const NodeId memory = order.memory_[input];
        if (!order.written_[memory]) return;
        auto& accesses = order.accesses_[memory];
        if (accesses.empty() || accesses.back() != id) accesses.push_back(id);
        if (memory == written) return;
        State& state = states[memory];
        if (state.last_write != ir::kNoNode) add(state.last_write, id, Why::Memory);
        state.reads.push_back(id);
      });
      if (written == ir::kNoNode) continue;
      State& state = states[written];
      if (state.last_write != ir::kNoNode) add(state.last_write, id, Why::Memory);
      for (const NodeId read : state.reads) add(read, id, Why::Memory);
      state = {id, {}};
    }
  }

  void add_barriers() {
    NodeId last = ir::kNoNode;
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (graph.node(id).kind == ir::NodeKind::Placeholder) continue;
      if (last != ir::kNoNode) add(last, id, Why::Barrier);
      const ir::OpSignature* signature = ir::find_signature(graph.node(id));
      if (!signature || !signature->barrier) continue;
      for (NodeId before = last == ir::kNoNode ? graph.placeholder_count() : last + 1; before < id; ++before)
        add(before, id, Why::Barrier);
      last = id;
    }
  }

  /// Sorts the edges by origin.
  void store() {
    order.first_.assign(graph.size() + 1, 0);
    for (const auto& edge : edges) ++order.first_[edge.first + 1];
    std::partial_sum(order.first_.begin(), order.first_.end(), order.first_.begin());
    order.edges_.resize(edges.size());
    std::vector<uint32_t> next(order.first_.begin(), order.first_.end() - 1);
    for (const auto& [from, edge] : edges) order.edges_[next[from]++] = edge;
  }
};

std::span<const NodeId> Order::accesses(NodeId memory) const {
  const auto found = accesses_.find(memory);
  return found == accesses_.end() ? std::span<const NodeId>{} : std::span<const NodeId>(found->second);
}

Order::Order(const ir::Graph& graph) {
  memory_ = ir::memory_of_values(graph);
  Builder builder{graph, *this, {}};
  builder.find_writes();
  builder.add_data();
  builder.add_memory();
  builder.add_barriers();
  builder.store();
}

}  // namespace passnet::rewrite
