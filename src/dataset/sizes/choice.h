// What the integers of one node may stand for, best guess first. That two numbers are equal is only a hint; the shapes
// that the graph has when its inputs have other sizes decide.
// Source: docs/dataset-format.md, "Sizes" under "Generalize".
#pragma once

#include <span>
#include <vector>

#include "analysis/size_slots.h"
#include "dataset/sizes/pool.h"

namespace passnet::dataset {

/// One expression per slot of a node, in their order.
using Assignment = std::vector<analysis::SizeExpression>;

/// slots:    of node `id`; the shape of its first operand must be known at all probes.
/// pool:     the sizes seen in the values before the node.
/// required: by probe, the values that the slots have there; an empty list where that is not known.
/// Returns:  the best assignments, at most 12, best first. Each gives the captured values at the captured sizes. Empty
///           when no expression over sizes seen so far fits.
std::vector<Assignment> size_assignments(const ir::Graph& graph, ir::NodeId id,
                                         std::span<const analysis::SizeSlot> slots, const Probes& probes,
                                         const SizePool& pool, std::span<const std::vector<int64_t>> required);

}  // namespace passnet::dataset
