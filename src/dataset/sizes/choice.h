// What the integers of one node may stand for, best guess first. Equal numbers are a hint only; the shapes at
// other sizes of the inputs decide. docs/dataset.md has the rules.
#pragma once

#include <span>
#include <vector>

#include "analysis/size_slots.h"
#include "dataset/sizes/pool.h"

namespace passnet::dataset {

/// Expressions for the slots of a node, in their order.
using Assignment = std::vector<analysis::SizeExpression>;

/// The best assignments, at most 12; each gives the slots' values as captured. The first operand's shape must
/// be known at all probes. required: by probe, what the slots are there; empty where that is not known. None
/// is left where the sizes fit nothing that was seen.
std::vector<Assignment> size_assignments(const ir::Graph& graph, ir::NodeId id,
                                         std::span<const analysis::SizeSlot> slots, const Probes& probes,
                                         const SizePool& pool, std::span<const std::vector<int64_t>> required);

}  // namespace passnet::dataset
