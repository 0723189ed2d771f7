#include "pass/plan/memories.h"

#include <numeric>
#include <set>

#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::pass {

using ir::NodeId;

std::optional<size_t> launched_list(const ir::Graph& graph, NodeId id, size_t lists) {
  const auto args = graph.args(id);
  if (graph.node(id).target != ir::kFusedTarget || args.empty() || args[0].kind != ir::ArgKind::Int)
    return std::nullopt;
  const auto list = static_cast<size_t>(args[0].integer);
  return list < lists ? std::optional(list) : std::nullopt;
}

NodeId given_value(const ir::Graph& graph, NodeId id, const Buffer& buffer) {
  const auto args = graph.args(id);
  const size_t place = static_cast<size_t>(buffer.input) + 1;
  const bool is_value = buffer.input >= 0 && place < args.size() && args[place].kind == ir::ArgKind::Node;
  return is_value ? args[place].node : ir::kNoNode;
}

Memories::Memories(const ir::Graph& graph, const std::vector<LaunchList>& lists)
    : own_(ir::memory_of_values(graph)), root_(graph.size()) {
  std::iota(root_.begin(), root_.end(), NodeId{0});
  for (NodeId id = 0; id < graph.size(); ++id) {
    const std::optional<size_t> list = launched_list(graph, id, lists.size());
    if (!list) continue;
    for (const View& output : lists[*list].outputs) {
      const NodeId returned = given_value(graph, id, lists[*list].buffers[output.buffer]);
      if (returned == ir::kNoNode) continue;
      root_[shared(id)] = shared(returned);
      lies_on_[own(id)].push_back(own(returned));
    }
  }
}

NodeId Memories::shared(NodeId value) const {
  NodeId memory = own(value);
  while (root_[memory] != memory) memory = root_[memory];
  return memory;
}

bool Memories::comes_from(NodeId memory, NodeId target) const {
  std::set<NodeId> known{memory};
  for (std::vector<NodeId> open{memory}; !open.empty();) {
    const NodeId at = open.back();
    open.pop_back();
    if (at == target) continue;
    const auto below = lies_on_.find(at);
    if (below == lies_on_.end()) return false;
    for (const NodeId next : below->second)
      if (known.insert(next).second) open.push_back(next);
  }
  return true;
}

std::vector<bool> inputs_that_may_be_written(const ir::Graph& graph, const std::vector<LaunchList>& lists) {
  const Memories memories(graph, lists);
  std::set<NodeId> written;  // shared memories
  for (NodeId id = 0; id < graph.size(); ++id) {
    const std::optional<size_t> list = launched_list(graph, id, lists.size());
    if (!list) continue;
    for (const Buffer& buffer : lists[*list].buffers) {
      if (const NodeId value = given_value(graph, id, buffer); buffer.may_be_written && value != ir::kNoNode)
        written.insert(memories.shared(value));
    }
  }
  std::vector<bool> inputs = ir::inputs_that_may_be_written(graph);
  for (NodeId id = 0; id < graph.placeholder_count(); ++id)
    if (written.contains(memories.shared(id))) inputs[id] = true;
  return inputs;
}

}  // namespace passnet::pass
