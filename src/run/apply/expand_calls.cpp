#include "run/apply/expand_calls.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <set>
#include <string>

#include "ir/copy.h"
#include "ir/ops/table.h"
#include "pass/plan/segments.h"
#include "rewrite/rewrite.h"

namespace passnet::run {

using ir::Arg;
using ir::NodeId;

namespace {

class Expander {
 public:
  Expander(const ir::Graph& graph, const std::vector<PlannedSite>& sites)
      : graph_(graph), sites_(sites), copy_(graph, made_.graph), outputs_of_(graph.size()) {
    for (const PlannedSite& site : sites) {
      first_list_.push_back(made_.lists.size());
      segments_.push_back(pass::split_at_calls(site.list, site.calls));
      for (const pass::Piece& piece : segments_.back().pieces) {
        if (!piece.list) continue;
        made_.lists.push_back(*piece.list);
        made_.site_of_list.push_back(segments_.size() - 1);
      }
    }
    for (const ir::Node& node : graph.nodes()) names_.insert(node.name);
    made_.graph.file = graph.file;
    // Where operators were added the text that was read is no longer that of the graph.
    if (std::ranges::all_of(sites, [](const PlannedSite& site) { return site.calls.empty(); }))
      made_.graph.source = graph.source;
    made_.new_ids.resize(graph.size(), ir::kNoNode);
  }

  Expanded run() {
    for (NodeId id = 0; id < graph_.size(); ++id) place(id);
    return std::move(made_);
  }

 private:
  using Places = std::vector<Arg>;  // the tensors of a site, by the outputs of its plan

  void place(NodeId id) {
    const ir::Node& node = graph_.node(id);
    if (node.target == ir::kFusedTarget) return place_site(id);
    if (const Arg* taken = taken_out(node))
      copy_.stand_for(id, *taken);
    else
      copy_.copy(id);
    made_.new_ids[id] = copy_.here(id).node;
  }

  /// What an output that is taken out of a site's tuple is; null: the node is none, or its site is one node still.
  const Arg* taken_out(const ir::Node& node) const {
    if (node.kind != ir::NodeKind::Operator || node.target != "getitem") return nullptr;
    const auto args = graph_.args(node);
    if (args[0].kind != ir::ArgKind::Node || args[1].kind != ir::ArgKind::Int) return nullptr;
    const Places& outputs = outputs_of_[args[0].node];
    return outputs.empty() ? nullptr : &outputs.at(static_cast<size_t>(args[1].integer));
  }

  void place_site(NodeId id) {
    const auto args = graph_.args(id);
    const auto site = static_cast<size_t>(args[0].integer);
    if (sites_[site].calls.empty()) {
      std::vector<Arg> inputs = copy_.arguments(id);
      inputs[0] = Arg::of_int(static_cast<int64_t>(first_list_[site]));
      made_.new_ids[id] = copy_.copy_with(id, graph_.node(id).name, inputs);
      return;
    }
    pieces_.clear();
    items_.clear();
    const pass::Segments& segments = segments_[site];
    auto list = static_cast<int64_t>(first_list_[site]);
    for (const pass::Piece& piece : segments.pieces) {
      if (piece.list)
        pieces_.push_back(place_list(id, list++, piece));
      else
        pieces_.push_back(place_call(id, site, piece));
    }
    for (const pass::SiteTensor& output : segments.outputs) outputs_of_[id].push_back(tensor(id, output));
  }

  NodeId place_list(NodeId id, int64_t list, const pass::Piece& piece) {
    std::vector<Arg> inputs{Arg::of_int(list)};
    for (const pass::SiteTensor& input : piece.inputs) inputs.push_back(tensor(id, input));
    return made_.graph.add_node(ir::NodeKind::CallFunction, ir::kFusedTarget, fresh_name("fused"), inputs, {},
                                graph_.node(id).offset);
  }

  NodeId place_call(NodeId id, size_t site, const pass::Piece& piece) {
    const pass::LibraryCall& call = sites_[site].calls[piece.call];
    ir::GraphCopy copying(call.graph, made_.graph);
    for (NodeId i = 0; i < piece.inputs.size(); ++i) copying.stand_for(i, tensor(id, piece.inputs[i]));
    const NodeId node = copying.copy(call.node(), fresh_name("called"));
    made_.calls.push_back({node, site, piece.call});
    if (!call.gives_several) items_[{static_cast<uint32_t>(pieces_.size()), 0}] = Arg::of_node(node);
    return node;
  }

  /// A tensor of the site that is being placed: an argument of its node, or an item of a piece, taken out once.
  Arg tensor(NodeId id, const pass::SiteTensor& wanted) {
    if (wanted.piece == pass::SiteTensor::kInput) return copy_.here(graph_.args(id)[wanted.index + 1].node);
    const auto [item, is_new] = items_.try_emplace({wanted.piece, wanted.index});
    if (is_new) {
      const Arg parts[] = {Arg::of_node(pieces_[wanted.piece]), Arg::of_int(wanted.index)};
      item->second = Arg::of_node(made_.graph.add_node(ir::NodeKind::Operator, "getitem", fresh_name("part"), parts, {},
                                                       graph_.node(id).offset));
    }
    return item->second;
  }

  /// "fused", "fused_1", …: the first that no node has.
  std::string_view fresh_name(const std::string& base) {
    uint32_t& last = last_suffix_[base];
    std::string name = last == 0 ? base : fmt::format("{}_{}", base, last);
    while (names_.contains(name)) name = fmt::format("{}_{}", base, ++last);
    const std::string_view kept = made_.graph.intern(name);
    names_.insert(kept);
    return kept;
  }

  const ir::Graph& graph_;
  const std::vector<PlannedSite>& sites_;
  std::vector<pass::Segments> segments_;  // by site
  std::vector<size_t> first_list_;        // by site
  Expanded made_;
  ir::GraphCopy copy_;
  std::vector<Places> outputs_of_;                      // by the old id of such a site
  std::vector<NodeId> pieces_;                          // of the site that is being placed
  std::map<std::pair<uint32_t, uint32_t>, Arg> items_;  // of it, by piece and output
  std::set<std::string_view> names_;
  std::map<std::string, uint32_t> last_suffix_;
};

}  // namespace

Expanded expand_calls(const ir::Graph& graph, const std::vector<PlannedSite>& sites) {
  return Expander(graph, sites).run();
}

ir::Values values_before(const Expanded& expanded, const ir::Values& values) {
  ir::Values before(expanded.new_ids.size());
  for (size_t id = 0; id < before.size(); ++id) {
    const NodeId now = expanded.new_ids[id];
    if (now < values.size()) before[id] = values[now];
  }
  return before;
}

}  // namespace passnet::run
