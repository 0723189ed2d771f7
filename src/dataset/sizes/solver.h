// Makes a graph that was captured at one choice of sizes fit others: finds which of its integers are sizes, and of
// what.
// Source: docs/dataset-format.md, "Generalize".
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

/// The other sizes of the inputs that the graph has to fit: the trials, numbered from 0 on.
struct SizeTrials {
  /// By trial, a capture of the same model at those sizes, with the same nodes and other integers; null when there is
  /// none.
  std::vector<const ir::Graph*> captured;
  /// Infers the types of a graph's values at each of `trials`. The graph is that to be solved with size calls added
  /// (with_size_calls), or one of `captured`.
  std::function<Result<std::vector<analysis::ValueShapes>>(const ir::Graph&, std::span<const size_t> trials)> infer;
  /// Asked now and then: why the search has to end; empty to go on.
  std::function<std::string()> why_over = [] { return std::string(); };
};

/// The first node that does not fit, and why.
struct Misfit {
  ir::NodeId node = ir::kNoNode;
  std::string why;
};

struct SizeSolution {
  std::vector<analysis::NodeSizes> changes;  // in the order of the nodes: those whose sizes follow from others
  std::optional<Misfit> misfit;              // set when the changes do not make the graph fit all trials
};

/// Walks the graph from its inputs on and gives each slot its best expression. Where the graph then does not fit a
/// trial, tries the next best expressions of the nodes that the misfit depends on.
/// shapes:   of the graph as captured.
/// start:    changes to begin with, such as those found for fewer trials; they save steps.
/// Returns:  the changes found, and the misfit that is left, if any.
/// Errors:   those of trials.infer.
Result<SizeSolution> solve_sizes(const ir::Graph& graph, const analysis::ValueShapes& shapes, const SizeTrials& trials,
                                 std::vector<analysis::NodeSizes> start = {});

}  // namespace passnet::dataset
