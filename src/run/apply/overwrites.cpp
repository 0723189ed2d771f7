#include "run/apply/overwrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <numeric>
#include <set>
#include <string_view>
#include <variant>
#include <vector>

#include "rewrite/order.h"
#include "rewrite/rewrite.h"

namespace passnet::run {

using ir::NodeId;

namespace {

/// The memories of a graph with fused nodes. A fused node's results have a memory of their own, and one that they share
/// with what the plan returns of its inputs.
class Memories {
 public:
  Memories(const ir::Graph& graph, const std::vector<pass::LaunchList>& lists) : order_(graph), root_(graph.size()) {
    std::iota(root_.begin(), root_.end(), NodeId{0});
    for (NodeId id = 0; id < graph.size(); ++id) {
      if (graph.node(id).target != rewrite::kFusedTarget) continue;
      const auto args = graph.args(graph.node(id));
      const pass::LaunchList& list = lists[static_cast<size_t>(args[0].integer)];
      for (const pass::View& output : list.outputs) {
        const int32_t input = list.buffers[output.buffer].input;
        if (input < 0) continue;
        const NodeId returned = args[static_cast<size_t>(input) + 1].node;
        root_[shared(id)] = shared(returned);
        lies_on_[own(id)].push_back(own(returned));
      }
    }
  }
  NodeId own(NodeId value) const { return order_.memory(value); }
  /// Whether a memory is `target`, or one that plans made of that alone by returning their inputs.
  bool comes_from(NodeId memory, NodeId target) const {
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
  /// Two values with different numbers share no memory.
  NodeId shared(NodeId value) const {
    NodeId memory = own(value);
    while (root_[memory] != memory) memory = root_[memory];
    return memory;
  }

 private:
  rewrite::Order order_;
  std::vector<NodeId> root_;
  std::map<NodeId, std::vector<NodeId>> lies_on_;
};

/// Names of the inputs that a graph overwrites.
std::set<std::string_view> overwritten_inputs(const ir::Graph& graph) {
  const rewrite::Order order(graph);
  std::set<std::string_view> names;
  for (NodeId id = 0; id < graph.placeholder_count(); ++id)
    if (order.is_written(order.memory(id))) names.insert(graph.node(id).name);
  return names;
}

/// The kernels that models write declare nothing; of our own copies it is known what they write.
Result<void> require_writable(const pass::LaunchList& list) {
  for (const pass::Launch& launch : list.launches) {
    if (launch.origin != pass::KernelOrigin::Builtin) continue;
    const auto* to = std::get_if<pass::View>(&launch.args.at(1));
    if (to == nullptr || !list.buffers[to->buffer].is_read_only()) continue;
    return bad_pass(fmt::format("copy_ writes input {} of the pass, which is needed afterwards",
                                list.buffers[to->buffer].input),
                    launch.at)
        .with_hint("allocate with torch.empty_like and copy there");
  }
  return {};
}

}  // namespace

Result<void> note_overwrites(const ir::Graph& original, Rewritten& rewritten) {
  const ir::Graph& graph = rewritten.graph;
  const Memories memories(graph, rewritten.lists);
  const std::set<std::string_view> overwritten = overwritten_inputs(original);
  // By shared memory: the memories in it that are looked at behind the node in question.
  std::map<NodeId, std::set<NodeId>> needed;
  const auto need = [&](NodeId value) { needed[memories.shared(value)].insert(memories.own(value)); };
  for (NodeId id = 0; id < graph.placeholder_count(); ++id)
    if (!overwritten.contains(graph.node(id).name)) need(id);
  for (auto id = static_cast<NodeId>(graph.size()); id-- > graph.placeholder_count();) {
    const ir::Node& node = graph.node(id);
    if (node.target == rewrite::kFusedTarget) {
      const auto args = graph.args(node);
      for (pass::Buffer& buffer : rewritten.lists[static_cast<size_t>(args[0].integer)].buffers) {
        if (buffer.input < 0) continue;
        const auto found = needed.find(memories.shared(args[static_cast<size_t>(buffer.input) + 1].node));
        // What this node itself returns is to be what it wrote.
        buffer.may_be_written = found == needed.end() || std::ranges::all_of(found->second, [&](NodeId memory) {
                                  return memories.comes_from(memory, memories.own(id));
                                });
        // Each input may be a copy while kernels run: what is written to one is not seen in another.
        const auto is_same_memory = [&](const ir::Arg& other) {
          return memories.shared(other.node) == memories.shared(args[static_cast<size_t>(buffer.input) + 1].node);
        };
        if (std::ranges::count_if(args.subspan(1), is_same_memory) > 1) buffer.may_be_written = false;
      }
    }
    ir::for_each_input(graph, node, need);
  }
  for (const pass::LaunchList& list : rewritten.lists) PASSNET_TRY_VOID(require_writable(list));
  return {};
}

}  // namespace passnet::run
