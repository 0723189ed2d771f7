#include "rewrite/match.h"

#include <algorithm>

#include "rewrite/fit.h"
#include "rewrite/legality.h"
#include "rewrite/nearest_miss.h"
#include "rewrite/pattern.h"
#include "rewrite/search.h"

namespace passnet::rewrite {

using ir::NodeId;

namespace {

// For the diagnosis only so many places are looked at: those of a pattern with an operator that the graph lacks, and
// those where a part may fit.
constexpr size_t kDiagnosisPlaces = 64;
constexpr size_t kExplainSteps = 100;

struct Roots {
  NodeId root = ir::kNoNode;     // the pattern's call with the fewest candidates in the graph, of those that have any
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
  for (NodeId id = 0; id < pattern.graph->placeholder_count(); ++id) match.inputs.push_back(assignment.values[id]);
  for (const NodeId id : pattern.outputs) match.outputs.push_back(assignment.node(id));
  return match;
}

// The most calls that fit anywhere. All that are there do not make a match when it comes to this, so one less at most.
uint32_t most_fitting(const Pattern& pattern, PreparedGraph& graph, NodeId root, Budget& steps) {
  const auto places = graph.calls_of(pattern.prepared->name(root));
  uint32_t most = 0;
  for (const NodeId at : places.first(std::min(places.size(), kDiagnosisPlaces)))
    most = std::max(most, count_fitting(pattern, graph, root, at, steps));
  return std::min(most, static_cast<uint32_t>(pattern.calls.size()) - 1);
}

Result<MatchReport> find_within(const ir::Graph& source, PreparedGraph& graph, Budget& steps) {
  PASSNET_TRY(Pattern pattern, prepare_pattern(source, graph.options(), steps));
  const Roots roots = choose_root(pattern, graph);
  MatchReport report;
  if (roots.root == ir::kNoNode) {
    report.miss = explain_missing(pattern, graph, roots.missing, {});
    return report;
  }
  Legality legality(graph, steps);
  std::optional<Refusal> refusal;
  Search search(pattern, graph, steps, [&](const Assignment& assignment) {
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
    const bool found = search.run(roots.root, at);
    PASSNET_TRY_VOID(steps.check());
    if (found || !refusal) continue;
    PASSNET_TRY_VOID(steps.charge(kExplainSteps + refusal->reason.size() / 64));
    report.refused.push_back(explain(pattern, graph, *refusal));
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
  if (!report.miss->refused) report.miss->fitting = most_fitting(pattern, graph, roots.root, steps);
  PASSNET_TRY_VOID(steps.check());
  return report;
}

}  // namespace

Result<MatchReport> find_matches(const ir::Graph& pattern, PreparedGraph& graph, Budget& steps) {
  Result<MatchReport> report = find_within(pattern, graph, steps);
  if (report || report.error().at || report.error().kind != Error::Kind::BadPass) return report;
  const NodeId first = std::min<NodeId>(pattern.placeholder_count(), pattern.size() - 1);
  report.error().at = pattern.locate(pattern.node(first));
  return report;
}

Result<MatchReport> find_matches(const ir::Graph& pattern, ir::Graph& graph, const MatchOptions& options) {
  PreparedGraph prepared(graph, options);
  Budget steps(kMatching);
  return find_matches(pattern, prepared, steps);
}

}  // namespace passnet::rewrite
