// Which integer constants of a graph are sizes, and the graph with others in their place.
// Source: docs/dataset.md, "Sizes" under "Generalize".
#pragma once

#include <optional>
#include <span>
#include <string_view>
#include <utility>
#include <vector>

#include "analysis/size_expression.h"
#include "ir/graph.h"

namespace passnet::analysis {

/// How the integers of an operator relate to the shapes of its operands.
enum class SizeRule : uint8_t {
  View,    // the sizes of a result with as many elements as the first operand
  Expand,  // the sizes of a result that the first operand is broadcast to
  Repeat,  // how often the first operand stands in the result, per axis
  Create,  // the sizes of a new tensor
  Range,   // the end of a range
  Slice,   // bounds along an axis of the first operand
  Split,   // the sizes of pieces along an axis of the first operand
  Number,  // a number that integers are compared or computed with
};

/// op, parameter: canonical names (ir/ops/table.h).
/// Returns:  how the integers in this argument relate to shapes; nullopt when they are not sizes.
std::optional<SizeRule> size_rule(std::string_view op, std::string_view parameter);
/// Returns: every (op, parameter) that has a size_rule.
std::vector<std::pair<std::string_view, std::string_view>> size_parameters();

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
