// What a graph's types at other sizes do not tell: operators that a run refuses there, and integers that are
// no sizes but may follow from some.
#pragma once

#include <span>
#include <string>

#include "analysis/size_expression.h"
#include "analysis/size_slots.h"
#include "ir/graph.h"

namespace passnet::dataset {

/// Why a run refuses the node at sizes where its type is fine: an attention mask of other sizes than the
/// scores, more positions than a table has rows. captured: the shapes as captured, which run. Empty: nothing
/// speaks against it.
std::string refused_by_run(const ir::Graph& graph, ir::NodeId id, const analysis::ValueShapes& captured,
                           const analysis::ValueShapes& there);

/// Why an integer of the node, which is no slot, may be another one at the sizes of `there`: paddings,
/// kernels of pools, bounds, strides, unrolled loops. Empty where the first operand has the same sizes, or
/// nothing speaks against it.
std::string depends_on_size(const ir::Graph& graph, ir::NodeId id, const analysis::ValueShapes& captured,
                            const analysis::ValueShapes& there);

/// Why it is open what the slots of a node stand for although `sizes` fits everywhere; empty: it is not. A
/// number that values are compared with, or a 1 that broadcasts, fits as a size and as itself.
std::string is_open(const ir::Graph& graph, ir::NodeId id, std::span<const analysis::SizeSlot> slots,
                    std::span<const analysis::SizeExpression> sizes);

}  // namespace passnet::dataset
