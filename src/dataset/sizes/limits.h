// What the types of a graph's values at other sizes do not show: operators that fail there when they are run, and
// integers that are not sizes themselves but are computed from sizes.
// Source: docs/dataset-format.md, "What is refused".
#pragma once

#include <span>
#include <string>

#include "analysis/size_expression.h"
#include "analysis/size_slots.h"
#include "ir/graph.h"

namespace passnet::dataset {

/// captured: the shapes as captured, at which the node is known to run; there: the shapes at other sizes.
/// Returns:  why the node would fail there although its type can be inferred: an attention mask of another size than
///           the scores, more positions than a table has rows. Empty when no reason is known.
std::string refused_by_run(const ir::Graph& graph, ir::NodeId id, const analysis::ValueShapes& captured,
                           const analysis::ValueShapes& there);

/// captured, there: as above.
/// Returns:  why an integer of the node that is not a slot could be another number at the sizes of `there`: a padding,
///           the kernel of a pool, a bound, a stride, an unrolled loop. Empty when the first operand has the same sizes
///           there, or no reason is known.
std::string depends_on_size(const ir::Graph& graph, ir::NodeId id, const analysis::ValueShapes& captured,
                            const analysis::ValueShapes& there);

/// sizes:    one expression per slot, which fit at all sizes that were tried.
/// Returns:  why it is still undecided what the slots stand for; empty when it is decided. For example, a number that
///           values are compared with, or a 1 that broadcasts, fits both as a size and as a constant.
std::string is_open(const ir::Graph& graph, ir::NodeId id, std::span<const analysis::SizeSlot> slots,
                    std::span<const analysis::SizeExpression> sizes);

}  // namespace passnet::dataset
