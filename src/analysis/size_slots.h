// Which integer constants of a graph are sizes, and the graph with others in their place.
// Source: docs/dataset-format.md, "Sizes" under "Generalize".
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "analysis/size_expression.h"
#include "ir/graph.h"
#include "ir/ops/table.h"

namespace passnet::analysis {

/// How the integers of an operator relate to the shapes of its operands: one of the first roles, View to Number.
using SizeRule = ir::Role;

/// Returns: what the integers in an argument of that role say; nullopt when they are not sizes.
std::optional<SizeRule> size_rule(ir::Role role);

/// One integer literal.
struct SizeSlot {
  uint32_t ordinal = 0;  // among all integer literals of the node's arguments, keywords last, in order
  int64_t value = 0;
  SizeRule rule = SizeRule::Create;
  uint32_t position = 0;  // View to Create: which size; Slice, Split: the axis of the first operand
};

/// shapes:   of the graph as it stands.
/// Returns:  the integers of the node that may be sizes, which -1 and 0 never are.
std::vector<SizeSlot> size_slots(const ir::Graph& graph, ir::NodeId id, const ValueShapes& shapes);

/// What replaces the slots of one node, in their order.
struct NodeSizes {
  ir::NodeId node = ir::kNoNode;
  std::vector<SizeSlot> slots;
  std::vector<SizeExpression> sizes;
};

/// changes:  in the order of the nodes.
/// Returns:  the graph with `x.size(axis)` and arithmetic in place of the slots, so that it runs with inputs of any
///           size. The nodes that were there keep their names.
ir::Graph with_size_calls(const ir::Graph& graph, std::span<const NodeSizes> changes);

/// changes:  in the order of the nodes.
/// Returns:  the graph with each slot replaced by the value of its expression at `shapes`; nullopt when one of them has
///           no value there.
std::optional<ir::Graph> with_sizes_at(const ir::Graph& graph, std::span<const NodeSizes> changes,
                                       const ValueShapes& shapes);

}  // namespace passnet::analysis
