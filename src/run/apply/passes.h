// Applies the passes of a sample to one graph: match, evaluate the plan at each site, replace. Values' shapes come from
// a trace of the graph as it stands, so plans see the strides that earlier passes left behind.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/budget.h"
#include "base/result.h"
#include "ir/graph.h"
#include "ir/tensor_type.h"
#include "pass/plan/plan.h"
#include "pass/source.h"
#include "record/record.h"
#include "rewrite/match.h"
#include "run/worker/requests.h"

namespace passnet::run {

/// Runs a graph with its fused nodes (launch lists by index), launching no kernel, and tells every value's type.
/// What fails ends the graph.
using TraceFn = std::function<Result<Values>(const ir::Graph&, const std::vector<pass::LaunchList>&)>;

/// Limits of matching and planning for one graph, without its requests to workers.
struct GraphBudgets {
  explicit GraphBudgets(const Ends& ends = {})
      : matching(rewrite::kMatching, ends), planning(pass::kPlansOfGraph, ends) {}
  Budget matching, planning;
};

/// The inputs of a pattern at a site.
struct Bound {
  std::vector<std::string> constants;  // by input of the pattern, in the graph language; empty: a value of the graph
  std::vector<std::optional<ir::TensorType>> types;  // by input of the pattern; none: no tensor
  std::vector<uint32_t> tensors;                     // inputs of the pattern that the launch list has, in its order
};

struct Rewritten {
  ir::Graph graph;                            // with what plans call of PyTorch as nodes (run/apply/expand_calls.h)
  std::vector<pass::LaunchList> lists;        // by the index in passnet.fused
  std::vector<size_t> pass_of_list;           // index into the passes
  std::vector<Bound> bound;                   // by launch list
  std::vector<record::PassOutcome> outcomes;  // one per pass
  int sites() const;
};

/// budgets: those of this graph. Errors: BadPass (a plan failed at a site, too many steps), Resource "interrupted", or what
/// `trace` gave.
Result<Rewritten> apply_passes(const ir::Graph& graph, const std::vector<pass::Pass>& passes, const TraceFn& trace,
                               const rewrite::MatchOptions& options, const pass::PlanOptions& plans,
                               GraphBudgets& budgets);

}  // namespace passnet::run
