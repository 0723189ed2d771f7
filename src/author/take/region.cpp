#include "author/take/region.h"

#include <algorithm>
#include <numeric>

#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::author {

using ir::NodeId;
using ir::NodeKind;

void refuse_lists(const Subject& subject, std::vector<std::string>& refused) {
  const ir::Graph& graph = subject.graph;
  const std::vector<std::vector<NodeId>> users = ir::users(graph);
  for (NodeId id = subject.body(); id < graph.size(); ++id) {
    if (!subject.is_list(id) || !refused[id].empty()) continue;
    for (const NodeId user : users[id]) {
      if (graph.node(user).kind == NodeKind::Output || !refused[user].empty())
        refused[id] = "its parts are used where no kernel can be written";
    }
    for (const NodeId user : users[id]) {
      if (!refused[id].empty() && refused[user].empty())
        refused[user] = "no kernel can be written for what it takes a part of";
    }
  }
}

std::vector<std::vector<NodeId>> regions_of(const Subject& subject, const std::vector<std::string>& refused) {
  const ir::Graph& graph = subject.graph;
  // Two operators with as many refused ones before them have no refused one between them.
  std::vector<size_t> depth(graph.size()), root(graph.size());
  std::iota(root.begin(), root.end(), size_t{0});
  const auto find = [&](size_t id) {
    while (root[id] != id) id = root[id] = root[root[id]];
    return id;
  };
  std::vector<NodeId> overwriting;  // refused: what they overwrite is another value from there on
  for (NodeId id = subject.body(); id < graph.size(); ++id) {
    ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (input < subject.body()) return;
      const bool apart = !refused[id].empty() || !refused[input].empty();
      depth[id] = std::max(depth[id], depth[input] + (apart ? 1 : 0));
      for (const NodeId other : overwriting) {
        if (ir::base_of(graph, other) == ir::base_of(graph, input)) depth[id] = std::max(depth[id], depth[other] + 1);
      }
    });
    if (!refused[id].empty() && ir::overwrites_input(graph, id)) overwriting.push_back(id);
    if (!refused[id].empty() || graph.node(id).kind == NodeKind::Output) continue;
    ir::for_each_input(graph, graph.node(id), [&](NodeId input) {
      if (input >= subject.body() && refused[input].empty() && depth[input] == depth[id]) root[find(input)] = find(id);
    });
  }
  std::vector<std::vector<NodeId>> regions(graph.size());
  for (NodeId id = subject.body(); id < graph.size(); ++id) {
    if (refused[id].empty() && graph.node(id).kind != NodeKind::Output) regions[find(id)].push_back(id);
  }
  std::erase_if(regions, [](const std::vector<NodeId>& nodes) { return nodes.empty(); });
  return regions;
}

}  // namespace passnet::author
