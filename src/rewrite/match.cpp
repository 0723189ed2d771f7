#include "rewrite/match.h"

#include <algorithm>

#include "rewrite/legality.h"
#include "rewrite/nearest_miss.h"
#include "rewrite/pattern.h"
#include "rewrite/search.h"

namespace passnet::rewrite {

using ir::NodeId;

namespace {

// A pattern with an operator that the graph lacks is tried at so many places, for the diagnosis only.
constexpr size_t kDiagnosisPlaces = 64;

struct Roots {
  NodeId root =
      ir::kNoNode;  // the pattern's call with the fewest candidates in the graph, of those that have any
  NodeId missing = ir::kNoNode;  // the first call that has none
};

Roots choose_root(const Pattern& pattern, const PreparedGraph& graph) {
  Roots roots;
  size_t fewest = 0;
  for (const NodeId call : pattern.calls) {
    const size_t count = graph.calls_of(pattern.prepared->name(call)).size();
    if (count == 0) {
      if (roots.missing == ir::kNoNode) roots.missing = call;
    } else if (roots.root == ir::kNoNode || count <= fewest) {
      roots.root = call;
      fewest = count;
    }
  }
  return roots;
}

Match make_match(const Pattern& pattern, const Assignment& assignment) {
  Match match;
  match.nodes.resize(pattern.graph->size(), ir::kNoNode);
  for (NodeId id = 0; id < pattern.graph->size(); ++id) match.nodes[id] = assignment.node(id);
  for (NodeId id = 0; id < pattern.graph->placeholder_count(); ++id)
    match.inputs.push_back(assignment.values[id]);
  for (const NodeId id : pattern.outputs) match.outputs.push_back(assignment.node(id));
  return match;
}

}  // namespace

Result<MatchReport> find_matches(const ir::Graph& source, PreparedGraph& graph) {
  PASSNET_TRY(Pattern pattern, prepare_pattern(source, graph.strict()));
  const Roots roots = choose_root(pattern, graph);
  MatchReport report;
  if (roots.root == ir::kNoNode) {
    report.miss = explain_missing(pattern, graph, roots.missing, {});
    return report;
  }
  Legality legality(graph);
  std::optional<Refusal> refusal;
  Search search(pattern, graph, [&](const Assignment& assignment) {
    auto why_not = legality.check(pattern, assignment);
    if (why_not) {
      if (!refusal) refusal = std::move(why_not);
      return false;
    }
    legality.accept(pattern, assignment);
    report.matches.push_back(make_match(pattern, assignment));
    return true;
  });
  auto places = graph.calls_of(pattern.prepared->name(roots.root));
  if (roots.missing != ir::kNoNode) places = places.first(std::min(places.size(), kDiagnosisPlaces));
  for (const NodeId at : places) {
    if (legality.is_taken(at)) continue;
    refusal.reset();
    if (!search.run(roots.root, at) && refusal) report.refused.push_back(explain(pattern, graph, *refusal));
  }
  std::sort(report.matches.begin(), report.matches.end(), [](const Match& a, const Match& b) {
    return *std::max_element(a.outputs.begin(), a.outputs.end()) <
           *std::max_element(b.outputs.begin(), b.outputs.end());
  });
  if (!report.matches.empty()) return report;
  if (!report.refused.empty())
    report.miss = report.refused.front();
  else if (roots.missing != ir::kNoNode)
    report.miss = explain_missing(pattern, graph, roots.missing, search.deepest());
  else
    report.miss = explain(pattern, graph, search.deepest());
  return report;
}

Result<MatchReport> find_matches(const ir::Graph& pattern, ir::Graph& graph, const MatchOptions& options) {
  PreparedGraph prepared(graph, options.strict);
  return find_matches(pattern, prepared);
}

}  // namespace passnet::rewrite
