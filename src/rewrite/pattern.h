// A pattern made ready for matching: what it computes, what it returns, and whether it can be used at all.
#pragma once

#include <memory>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "rewrite/prepared.h"

namespace passnet::rewrite {

struct Pattern {
  std::unique_ptr<ir::Graph> graph;         // a copy; canonical forms grow its pool
  std::unique_ptr<PreparedGraph> prepared;  // of `graph`
  std::vector<ir::NodeId> calls;            // what must be found: calls its outputs need, and in-place calls on those
  std::vector<ir::NodeId> outputs;          // the values it returns, in order
  std::vector<bool> is_output;              // by node id
  std::vector<std::pair<ir::NodeId, ir::NodeId>> ordered;  // calls whose order matters, because of in-place operators

  bool is_placeholder(ir::NodeId id) const { return graph->node(id).kind == ir::NodeKind::Placeholder; }
};

/// Returns:  the pattern without its dead code.
/// Errors:   BadPass: the pattern returns nothing, a constant or one of its inputs; it has an input that it does not
///           use; or the arguments of a call do not fit. Of `steps`.
Result<Pattern> prepare_pattern(const ir::Graph& pattern, const MatchOptions& options, Budget& steps);

}  // namespace passnet::rewrite
