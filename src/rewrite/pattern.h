// A pattern made ready for matching: what it computes, what it returns, and whether it can be used at all.
#pragma once

#include <memory>
#include <vector>

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

/// Dead code of the pattern is left out.
/// Errors: BadPass when the pattern returns nothing, a constant or one of its inputs, has an input it does
/// not use, or a call whose arguments do not fit.
Result<Pattern> prepare_pattern(const ir::Graph& pattern, bool strict);

}  // namespace passnet::rewrite
