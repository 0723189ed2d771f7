#include "run/apply/overwrites.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string_view>
#include <variant>

#include "pass/plan/memories.h"
#include "rewrite/order.h"

namespace passnet::run {

using ir::NodeId;

namespace {

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
  const pass::Memories memories(graph, rewritten.lists);
  const std::set<std::string_view> overwritten = overwritten_inputs(original);
  // By shared memory: the memories in it that are looked at behind the node in question.
  std::map<NodeId, std::set<NodeId>> needed;
  const auto need = [&](NodeId value) { needed[memories.shared(value)].insert(memories.own(value)); };
  for (NodeId id = 0; id < graph.placeholder_count(); ++id)
    if (!overwritten.contains(graph.node(id).name)) need(id);
  for (auto id = static_cast<NodeId>(graph.size()); id-- > graph.placeholder_count();) {
    if (const auto list = pass::launched_list(graph, id, rewritten.lists.size())) {
      for (pass::Buffer& buffer : rewritten.lists[*list].buffers) {
        const NodeId given = pass::given_value(graph, id, buffer);
        if (given == ir::kNoNode) continue;
        const NodeId memory = memories.shared(given);
        const auto found = needed.find(memory);
        // What this node itself returns is to be what it wrote.
        buffer.may_be_written = found == needed.end() || std::ranges::all_of(found->second, [&](NodeId one) {
                                  return memories.comes_from(one, memories.own(id));
                                });
        // Each input may be a copy while kernels run: what is written to one is not seen in another.
        const auto is_same_memory = [&](const ir::Arg& other) { return memories.shared(other.node) == memory; };
        if (std::ranges::count_if(graph.args(id).subspan(1), is_same_memory) > 1) buffer.may_be_written = false;
      }
    }
    ir::for_each_input(graph, graph.node(id), need);
  }
  for (const pass::LaunchList& list : rewritten.lists) PASSNET_TRY_VOID(require_writable(list));
  return {};
}

}  // namespace passnet::run
