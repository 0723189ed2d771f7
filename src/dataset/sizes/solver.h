// A graph that was captured at one choice of sizes, made to fit others: which of its integers are sizes, and
// of what.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "analysis/size_slots.h"
#include "base/result.h"
#include "dataset/sizes/choice.h"
#include "ir/graph.h"

namespace passnet::dataset {

/// Other sizes of the inputs that the graph has to fit, numbered from 0 on.
struct SizeTrials {
  /// By trial, a capture of the same model there: the same nodes, other integers. Null: there is none.
  std::vector<const ir::Graph*> captured;
  /// The types of the values of the graph to be solved at each of `trials`. The graph has size calls in
  /// between, or is one of those captured.
  std::function<Result<std::vector<analysis::ValueShapes>>(const ir::Graph&, std::span<const size_t> trials)> infer;
  /// Why the search ends now; empty: it goes on.
  std::function<std::string()> why_over = [] { return std::string(); };
};

/// The first node that does not fit.
struct Misfit {
  ir::NodeId node = ir::kNoNode;
  std::string why;
};

struct SizeSolution {
  std::vector<analysis::NodeSizes> changes;  // in the order of the nodes: those whose sizes follow from others
  std::optional<Misfit> misfit;              // there is one: the changes do not make the graph fit all trials
};

/// Walks the graph from its inputs on and gives each slot its best expression; where the graph then does not
/// fit a trial, tries the next best of the nodes that lead there. shapes: of the graph as captured. start:
/// changes to begin with; what was found for fewer trials saves steps. Errors: of infer.
Result<SizeSolution> solve_sizes(const ir::Graph& graph, const analysis::ValueShapes& shapes, const SizeTrials& trials,
                                 std::vector<analysis::NodeSizes> start = {});

}  // namespace passnet::dataset
