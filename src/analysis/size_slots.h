// Where in a graph integers are sizes, and graphs with other integers there.
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

/// What the integers in an argument of that role say; nullopt: they are no sizes.
std::optional<SizeRule> size_rule(ir::Role role);

/// One integer literal.
struct SizeSlot {
  uint32_t ordinal = 0;  // among all integer literals of the node's arguments, keywords last, in order
  int64_t value = 0;
  SizeRule rule = SizeRule::Create;
  uint32_t position = 0;  // View to Create: which size; Slice, Split: the axis of the first operand
};

/// The integers of a node that may be sizes; -1 and 0 are none. shapes: of the graph as it stands.
std::vector<SizeSlot> size_slots(const ir::Graph& graph, ir::NodeId id, const ValueShapes& shapes);

/// What replaces the slots of one node, in their order.
struct NodeSizes {
  ir::NodeId node = ir::kNoNode;
  std::vector<SizeSlot> slots;
  std::vector<SizeExpression> sizes;
};

/// The graph with `x.size(axis)` and arithmetic in place of the slots, so that it fits any sizes of its
/// inputs. Every node but those keeps its name. changes: in the order of the nodes.
ir::Graph with_size_calls(const ir::Graph& graph, std::span<const NodeSizes> changes);

/// The graph with the integers that the expressions have at `shapes`; nullopt: one of them has none there.
std::optional<ir::Graph> with_sizes_at(const ir::Graph& graph, std::span<const NodeSizes> changes,
                                       const ValueShapes& shapes);

}  // namespace passnet::analysis
