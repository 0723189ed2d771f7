// Fused nodes whose plans call PyTorch, as what they are: launch lists and operators, node after node. graph -> graph.
//
// Passes match before this: what a plan calls is the inside of a replacement, and no later pass may find its pattern there.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/value.h"
#include "pass/plan/library_call.h"

namespace passnet::run {

/// What a plan came to at one site.
struct PlannedSite {
  pass::LaunchList list;
  std::vector<pass::LibraryCall> calls;
};

struct Expanded {
  /// A call of a plan in the new graph.
  struct Call {
    ir::NodeId node = ir::kNoNode;
    size_t site = 0, call = 0;
  };
  ir::Graph graph;
  std::vector<pass::LaunchList> lists;  // by the index in passnet.fused of `graph`
  std::vector<size_t> site_of_list;
  std::vector<ir::NodeId> new_ids;  // by old node id; kNoNode: a fused node that became several
  std::vector<Call> calls;
};

/// graph: its fused nodes name `sites`. Sites without calls stay as they are.
Expanded expand_calls(const ir::Graph& graph, const std::vector<PlannedSite>& sites);

/// The values of a graph by those of the one that it was expanded to.
ir::Values values_before(const Expanded& expanded, const ir::Values& values);

}  // namespace passnet::run
