// Finds a pattern in a graph: torch.fx SubgraphMatcher semantics on canonical calls (ir/ops/table.h), with a diagnosis
// when nothing matches.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "ir/graph.h"
#include "rewrite/match_options.h"
#include "rewrite/prepared.h"

namespace passnet::rewrite {

/// One occurrence.
struct Match {
  std::vector<ir::NodeId> nodes;    // by pattern node id; kNoNode for placeholders bound to constants, and the output
  std::vector<ir::Arg> inputs;      // by pattern placeholder: what it is bound to in the graph (node or constant;
                                    // containers and text refer to the graph's pool)
  std::vector<ir::NodeId> outputs;  // graph node of each value the pattern returns, in order
};

/// Why the best partial match stopped; enough for a person to act on.
struct NearestMiss {
  bool refused = false;             // all of it was found, but one call cannot stand for it
  uint32_t matched = 0, total = 0;  // pattern calls found before it stopped (the last one may not fit), of how many
  uint32_t fitting = 0;  // of all calls those that fit at the best place, when one that does not is passed over;
                         // below `total`, except when refused
  SourceLoc pattern_at, graph_at;        // graph_at.line == 0 when there is no graph node to point at
  std::string pattern_text, graph_text;  // both lines as text
  std::string reason;                    // "argument 'eps' differs: found 1e-06, expected 1e-05"
};

struct MatchReport {
  std::vector<Match> matches;        // disjoint, in graph order
  std::vector<NearestMiss> refused;  // structurally equal sites refused: inner value used outside, mutation between,
                                     // overlap with an earlier match, cycle
  std::optional<NearestMiss> miss;   // set when there is no match
};

/// All patterns that are tried on one graph. A step is a comparison, or a node that is looked at.
inline constexpr Work kMatching{"matching takes", 30'000'000,
                                "a pattern of fewer calls, or with a call that graphs have less often, takes less"};

/// Time that all patterns may take on one graph, for callers that have no limit of their own.
inline constexpr std::chrono::seconds kMostMatchTime{10};

/// pattern: from fx::parse_function; its placeholders bind to any node, or to a constant.
/// graph is not changed in meaning; its pool may grow (canonical forms).
/// Dead code of the pattern is ignored; different calls of the pattern are different nodes of the graph. See
/// docs/matching.md.
/// Errors: BadPass when the pattern itself is unusable: it returns nothing, a constant or an input, has an input it
///         does
/// not use, or a call whose arguments do not fit.
Result<MatchReport> find_matches(const ir::Graph& pattern, ir::Graph& graph, const MatchOptions& options = {});

/// The same on a prepared graph, which many patterns can share; its options are those of the match. steps: of all patterns
/// that are tried on the graph. Errors: of `steps` too, at the pattern.
Result<MatchReport> find_matches(const ir::Graph& pattern, PreparedGraph& graph, Budget& steps);

/// The diagnosis as printed to people, without a final newline:
///   nearest miss: 2 of 3 operators fit (or "refused: 3 operators found")
///     reason: argument 'eps' of layer_norm: found 1e-06, expected 1e-05
///     pattern Name.py:4:11: return torch.nn.functional.layer_norm(…)
///     graph model.py:12:9: tmp_4 = torch.nn.functional.layer_norm(…)
std::string to_string(const NearestMiss& miss);

}  // namespace passnet::rewrite
