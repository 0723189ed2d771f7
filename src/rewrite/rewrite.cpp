#include "rewrite/rewrite.h"

#include <fmt/format.h>

#include <algorithm>
#include <queue>
#include <unordered_set>

#include "base/check.h"
#include "ir/copy.h"
#include "ir/ops/table.h"
#include "rewrite/order.h"

namespace passnet::rewrite {

using ir::Arg;
using ir::NodeId;

namespace {

/// The operator has no effect but its result, so it may go when nobody uses it.
bool is_pure(const ir::Graph& graph, NodeId id) {
  const ir::OpSignature* signature = ir::find_signature(graph.node(id));
  return signature && !signature->keep && !signature->barrier && !ir::overwrites_input(graph, id);
}

/// Builds the new graph. An item is what is placed as a whole: an old node (its id) or a site (size() + its
/// index).
class Rewriter {
 public:
  Rewriter(const ir::Graph& graph, std::span<const Site> sites)
      : graph_(graph), sites_(sites), copy_(graph, new_graph_) {}

  ir::Graph run(std::vector<NodeId>* node_map) {
    assign_items();
    remove_dead();
    const std::vector<uint32_t> order = sort_items();
    new_graph_.file = graph_.file;
    new_graph_.source = graph_.source;
    for (const ir::Node& node : graph_.nodes()) names_.insert(node.name);
    for (const uint32_t item : order) {
      if (item < graph_.size())
        copy_.copy(item);
      else
        place_site(sites_[item - graph_.size()]);
    }
    if (node_map) {
      node_map->assign(graph_.size(), ir::kNoNode);
      for (NodeId id = 0; id < graph_.size(); ++id) {
        if (is_placed(id)) (*node_map)[id] = copy_.here(id).node;
      }
    }
    return std::move(new_graph_);
  }

 private:
  static constexpr uint32_t kRemoved = ~uint32_t{0};

  std::vector<NodeId> matched_calls(const Site& site) const {
    std::vector<NodeId> calls(site.match.nodes.begin() + static_cast<ptrdiff_t>(site.match.inputs.size()),
                              site.match.nodes.end());
    std::erase(calls, ir::kNoNode);
    return calls;
  }

  void assign_items() {
    items_.resize(graph_.size());
    for (NodeId id = 0; id < graph_.size(); ++id) items_[id] = id;
    for (size_t i = 0; i < sites_.size(); ++i) {
      NodeId last = 0;
      for (const NodeId id : matched_calls(sites_[i])) {
        PASSNET_CHECK(items_[id] == id, fmt::format("node '{}' belongs to two sites", graph_.node(id).name));
        items_[id] = graph_.size() + static_cast<uint32_t>(i);
        last = std::max(last, id);
      }
      site_keys_.push_back(last);
    }
  }

  /// Values that only the replaced nodes used, and what only those used.
  void remove_dead() {
    used_.resize(graph_.size());
    std::vector<bool> was_used(graph_.size());
    for (const Site& site : sites_) {
      for (const NodeId id : site.inputs) used_[id] = true;
    }
    for (NodeId id = graph_.size(); id-- > 0;) {
      const bool replaced = items_[id] >= graph_.size();
      const bool fixed = id < graph_.placeholder_count() || id == graph_.output();
      if (!replaced && !fixed && was_used[id] && !used_[id] && is_pure(graph_, id)) items_[id] = kRemoved;
      ir::for_each_input(graph_, graph_.node(id), [&](NodeId input) {
        was_used[input] = true;
        if (items_[id] == id) used_[input] = true;
      });
    }
  }

  /// As near to the old order as the dependences allow: a site goes where its last node was.
  std::vector<uint32_t> sort_items() const {
    const size_t count = graph_.size() + sites_.size();
    std::vector<std::vector<uint32_t>> after(count);
    std::vector<uint32_t> waiting(count);
    const auto add = [&](uint32_t from, uint32_t to) {
      if (from == to || from == kRemoved || to == kRemoved) return;
      after[from].push_back(to);
      ++waiting[to];
    };
    const Order order(graph_);
    for (NodeId id = 0; id < graph_.size(); ++id) {
      for (const Order::Edge& edge : order.successors(id)) add(items_[id], items_[edge.to]);
    }
    for (size_t i = 0; i < sites_.size(); ++i) {
      for (const NodeId input : sites_[i].inputs) add(items_[input], graph_.size() + static_cast<uint32_t>(i));
    }
    using Entry = std::pair<NodeId, uint32_t>;  // old position, item
    std::priority_queue<Entry, std::vector<Entry>, std::greater<>> ready;
    const auto push = [&](uint32_t item) {
      ready.emplace(item < graph_.size() ? item : site_keys_[item - graph_.size()], item);
    };
    size_t expected = sites_.size();
    for (uint32_t item = 0; item < count; ++item) {
      const bool exists = item >= graph_.size() || items_[item] == item;
      expected += item < graph_.size() && exists;
      if (exists && waiting[item] == 0) push(item);
    }
    std::vector<uint32_t> sorted;
    while (!ready.empty()) {
      const uint32_t item = ready.top().second;
      ready.pop();
      sorted.push_back(item);
      for (const uint32_t next : after[item]) {
        if (--waiting[next] == 0) push(next);
      }
    }
    PASSNET_CHECK(sorted.size() == expected, "the sites of a rewrite depend on each other");
    return sorted;
  }

  bool is_placed(NodeId id) const { return copy_.here(id).kind == ir::ArgKind::Node; }

  /// fused = passnet.fused(launch_list, input…); then one getitem per output that is used, under its old
  /// name.
  void place_site(const Site& site) {
    const auto calls = matched_calls(site);
    const uint32_t offset = graph_.node(*std::max_element(calls.begin(), calls.end())).offset;
    std::vector<Arg> args(1, Arg::of_int(site.launch_list));
    for (const NodeId input : site.inputs) args.push_back(copy_.here(input));
    const Arg fused = copy_.add(ir::NodeKind::CallFunction, ir::kFusedTarget, fresh_name(), args, offset);
    for (size_t i = 0; i < site.match.outputs.size(); ++i) {
      const NodeId old = site.match.outputs[i];
      if (!used_[old] || is_placed(old)) continue;
      const Arg parts[] = {fused, Arg::of_int(static_cast<int64_t>(i))};
      const ir::Node& node = graph_.node(old);
      copy_.stand_for(old, copy_.add(ir::NodeKind::Operator, "getitem", node.name, parts, node.offset));
    }
  }

  /// "fused", "fused_1", … : the first that no node has.
  std::string_view fresh_name() {
    std::string name = "fused";
    while (names_.contains(name)) name = fmt::format("fused_{}", ++last_suffix_);
    const std::string_view kept = new_graph_.intern(name);
    names_.insert(kept);
    return kept;
  }

  const ir::Graph& graph_;
  std::span<const Site> sites_;
  std::vector<uint32_t> items_;    // by node id
  std::vector<NodeId> site_keys_;  // old id of each site's last node
  std::vector<bool> used_;         // by node id: something in the new graph takes it
  ir::Graph new_graph_;
  ir::GraphCopy copy_;
  std::unordered_set<std::string_view> names_;
  uint32_t last_suffix_ = 0;
};

}  // namespace

ir::Graph apply(const ir::Graph& graph, std::span<const Site> sites, std::vector<NodeId>* node_map) {
  return Rewriter(graph, sites).run(node_map);
}

}  // namespace passnet::rewrite
