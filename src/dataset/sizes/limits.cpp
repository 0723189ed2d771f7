#include "dataset/sizes/limits.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <optional>
#include <vector>

#include "analysis/cut.h"
#include "ir/ops/memory.h"
#include "ir/ops/table.h"

namespace passnet::dataset {

using ir::Arg;
using ir::ArgKind;
using ir::NodeId;

namespace {

using Shape = std::vector<int64_t>;

/// From here on a bound may be the size of a picture; smaller ones belong to activations such as relu6.
constexpr int64_t kPictureBound = 64;
/// Paddings, and indices on an axis, below this are constants.
constexpr int64_t kLarge = 8;
/// A pool with this kernel halves any size, so its kernel is a constant.
constexpr int64_t kHalving = 2;

/// New tensors of so many axes are masks by batch and head, or tables that all of a batch share.
constexpr size_t kTableAxes = 4;

NodeId node_of(const Arg& arg) { return arg.kind == ArgKind::Node ? arg.node : ir::kNoNode; }

NodeId operand(const ir::Graph& graph, NodeId id, std::string_view parameter) {
  const Arg* found = ir::find_argument(graph, id, parameter);
  return found == nullptr ? ir::kNoNode : node_of(*found);
}

/// The parameter of an operator that has this role, or null.
const ir::Parameter* with_role(const ir::OpSignature& op, ir::Role role) {
  const auto found = std::ranges::find(op.parameters, role, &ir::Parameter::role);
  return found == op.parameters.end() ? nullptr : &*found;
}

/// Null where it is not known, or has no axes.
const Shape* shape_of(NodeId id, const analysis::ValueShapes& shapes) {
  return id == ir::kNoNode || !shapes.shape[id] || shapes.shape[id]->empty() ? nullptr : &*shapes.shape[id];
}

/// Integer literals, of a list or alone; other elements are -1.
Shape integers(const ir::Graph& graph, const Arg* arg) {
  Shape values;
  const auto add = [&](const Arg& one) { values.push_back(one.kind == ArgKind::Int ? one.integer : -1); };
  if (arg != nullptr && (arg->kind == ArgKind::Tuple || arg->kind == ArgKind::List))
    std::ranges::for_each(graph.elements(*arg), add);
  else if (arg != nullptr && arg->kind == ArgKind::Int)
    add(*arg);
  return values;
}

/// The value counts positions: a range, or a sum of ones, with little done to it.
bool counts_positions(const ir::Graph& graph, NodeId id) {
  bool counted = false;
  while (id != ir::kNoNode && graph.node(id).kind != ir::NodeKind::Placeholder) {
    const ir::OpSignature* op = ir::find_signature(graph.node(id));
    if (op != nullptr && op->name == "arange") return true;
    if (op == nullptr || !op->positions) break;
    counted |= op->name == "cumsum";
    id = ir::first_input(graph, id);
  }
  return counted;
}

std::string refused_mask(const ir::Graph& graph, NodeId id, const Arg& given, const analysis::ValueShapes& there) {
  const Shape *query = shape_of(operand(graph, id, "query"), there), *key = shape_of(operand(graph, id, "key"), there),
              *mask = shape_of(node_of(given), there);
  if (query == nullptr || key == nullptr || mask == nullptr || query->size() < 2 || key->size() < 2) return {};
  Shape scores = *query;
  scores.back() = (*key)[key->size() - 2];
  for (size_t i = 1; i <= std::min(scores.size(), mask->size()); ++i) {
    const int64_t size = (*mask)[mask->size() - i];
    if (size != 1 && size != scores[scores.size() - i])
      return fmt::format("a mask of size {} for scores of size {}", size, scores[scores.size() - i]);
  }
  return {};
}

std::string refused_positions(const ir::Graph& graph, NodeId id, const Arg& given,
                              const analysis::ValueShapes& captured, const analysis::ValueShapes& there) {
  const NodeId positions = operand(graph, id, "input");
  const Shape *indices = shape_of(positions, there), *before = shape_of(positions, captured),
              *table = shape_of(node_of(given), there);
  if (indices == nullptr || before == nullptr || table == nullptr) return {};
  if (indices->back() > table->front() && before->back() <= table->front() && counts_positions(graph, positions))
    return fmt::format("{} positions for a table of {} rows", indices->back(), table->front());
  return {};
}

/// The window that a view cuts an axis into: 7 where (1, 56, 96) becomes (1, 8, 7, 96). 1: the axis stays.
std::optional<int64_t> window_of(const Shape& before, size_t axis, const Shape& after) {
  int64_t ahead = 1, made = 1;
  for (size_t i = 0; i < axis; ++i) ahead *= before[i];
  size_t first = 0;
  while (first < after.size() && (made < ahead || after[first] == 1)) made *= after[first++];
  if (made != ahead || first >= after.size()) return std::nullopt;
  if (after[first] == before[axis]) return 1;
  if (first + 1 < after.size() && after[first] * after[first + 1] == before[axis]) return after[first + 1];
  return std::nullopt;
}

/// What the padded axis is divided by, as captured: the window that a view behind cuts it into, or the stride
/// of a convolution or a pool. 1: it is not divided; nullopt: it is not known.
std::optional<int64_t> divisor_of(const ir::Graph& graph, NodeId padded, size_t axis,
                                  const analysis::ValueShapes& captured) {
  for (NodeId id = padded + 1; id < graph.size(); ++id) {
    if (ir::first_input(graph, id) != padded) continue;
    const ir::OpSignature* op = ir::find_signature(graph.node(id));
    if (op == nullptr) return std::nullopt;
    if (op->name == "roll" || op->name == "contiguous" || op->name == "dropout")
      return divisor_of(graph, id, axis, captured);
    if (with_role(*op, ir::Role::View) != nullptr) {
      const Shape *before = shape_of(padded, captured), *after = shape_of(id, captured);
      if (before == nullptr || after == nullptr) return std::nullopt;
      return window_of(*before, axis, *after);
    }
    const ir::Parameter* step = with_role(*op, ir::Role::Step);
    if (step == nullptr) return std::nullopt;
    const Shape strides = integers(graph, ir::find_argument(graph, id, step->name));
    const Shape* shape = shape_of(padded, captured);
    const size_t axes = op->name.ends_with("1d") ? 1 : op->name.ends_with("3d") ? 3 : 2;
    if (strides.empty()) return step->default_text == "1" ? std::optional<int64_t>(1) : std::nullopt;
    if (shape == nullptr || axis + axes < shape->size()) return 1;
    const size_t place = axis + axes - shape->size();
    return strides.size() == 1 ? strides.front() : strides[std::min(place, strides.size() - 1)];
  }
  return std::nullopt;
}

std::string padding_depends(const ir::Graph& graph, NodeId id, const Arg& given, const analysis::ValueShapes& captured,
                            const Shape& before, const Shape& now) {
  const Shape amounts = integers(graph, &given);
  for (size_t i = 0; i + 1 < amounts.size() && i / 2 < before.size(); i += 2) {
    const size_t axis = before.size() - 1 - i / 2;
    const int64_t size = before[axis], amount = std::max(amounts[i], amounts[i + 1]);
    if (size == now[axis]) continue;
    if (amount >= std::max(size, kLarge))
      return fmt::format("{} is padded by {}, which may follow from it", size, amount);
    const std::optional<int64_t> divisor = divisor_of(graph, id, axis, captured);
    if (!divisor && amounts[i] == 0)
      return fmt::format("{} is padded by {}, to a multiple that is not known", size, amount);
    if (divisor && *divisor > 0 && size % *divisor != now[axis] % *divisor)
      return fmt::format("{} in place of {} is padded to a multiple of {}", now[axis], size, *divisor);
  }
  return {};
}

std::string window_depends(const ir::Graph& graph, NodeId id, const Arg& given) {
  const ir::Parameter* step = with_role(*ir::find_signature(graph.node(id)), ir::Role::Step);
  const Arg* moved = step == nullptr ? nullptr : ir::find_argument(graph, id, step->name);
  const Shape window = integers(graph, &given), stride = moved == nullptr ? window : integers(graph, moved);
  if (window == stride && !window.empty() && window.front() > kHalving)
    return fmt::format("pieces of {}, which may be a quotient of sizes, are pooled", window.front());
  return {};
}

std::string bound_depends(const ir::Graph& graph, const Arg& given) {
  for (const int64_t bound : integers(graph, &given))
    if (bound >= kPictureBound) return fmt::format("its bound {} may be a size of the picture", bound);
  return {};
}

std::string index_depends(const ir::Graph& graph, const Arg& index, const Shape& before) {
  if (index.kind != ArgKind::Tuple) return {};
  const std::span<const Arg> items = graph.elements(index);
  for (size_t axis = 0; axis < items.size() && axis < before.size(); ++axis) {
    if (items[axis].kind == ArgKind::Int && items[axis].integer >= kLarge && items[axis].integer + 1 == before[axis])
      return fmt::format("it takes the last of {} by its number: a loop over them was unrolled", before[axis]);
    if (items[axis].kind != ArgKind::Slice && items[axis].kind != ArgKind::Int) break;
  }
  return {};
}

/// Calls `visit(argument, role)` for the arguments of a call that have one, in the order of the parameters, until it
/// returns a reason; that.
std::string first_reason(const ir::Graph& graph, NodeId id,
                         const std::function<std::string(const Arg&, ir::Role)>& visit) {
  const ir::OpSignature* op = ir::find_signature(graph.node(id));
  if (op == nullptr) return {};
  for (const ir::Parameter& parameter : op->parameters) {
    const Arg* given = parameter.role == ir::Role::None ? nullptr : ir::find_argument(graph, id, parameter.name);
    std::string reason = given == nullptr ? std::string() : visit(*given, parameter.role);
    if (!reason.empty()) return reason;
  }
  return {};
}

/// The first operand is a weight, but for its axes.
bool shows_weight(const ir::Graph& graph, NodeId id) {
  do id = ir::first_input(graph, id);
  while (id != ir::kNoNode &&
         (ir::canonical_name(graph.node(id)) == "reshape" || ir::canonical_name(graph.node(id)) == "view" ||
          ir::canonical_name(graph.node(id)) == "unsqueeze"));
  return id != ir::kNoNode && graph.node(id).kind == ir::NodeKind::Placeholder &&
         !analysis::is_data(graph.node(id).target);
}

}  // namespace

std::string refused_by_run(const ir::Graph& graph, NodeId id, const analysis::ValueShapes& captured,
                           const analysis::ValueShapes& there) {
  return first_reason(graph, id, [&](const Arg& given, ir::Role role) -> std::string {
    if (role == ir::Role::Mask) return refused_mask(graph, id, given, there);
    return role == ir::Role::Table ? refused_positions(graph, id, given, captured, there) : std::string();
  });
}

std::string depends_on_size(const ir::Graph& graph, NodeId id, const analysis::ValueShapes& captured,
                            const analysis::ValueShapes& there) {
  const NodeId first = ir::first_input(graph, id);
  const Shape *before = shape_of(first, captured), *now = shape_of(first, there);
  const bool changes = before != nullptr && now != nullptr && before->size() == now->size() && *before != *now;
  const bool reads = !ir::overwrites_input(graph, id);
  return first_reason(graph, id, [&](const Arg& given, ir::Role role) -> std::string {
    if (role == ir::Role::Batch) return "it maps over a batch, whose size it holds";
    if (!changes) return {};
    switch (role) {
      case ir::Role::Strides: return "strides follow from sizes";
      case ir::Role::Padding: return padding_depends(graph, id, given, captured, *before, *now);
      case ir::Role::Window: return window_depends(graph, id, given);
      case ir::Role::Bound: return captured.integral[first] ? std::string() : bound_depends(graph, given);
      case ir::Role::Slice: return reads ? index_depends(graph, given, *before) : std::string();
      default: return {};
    }
  });
}

std::string is_open(const ir::Graph& graph, NodeId id, std::span<const analysis::SizeSlot> slots,
                    std::span<const analysis::SizeExpression> sizes) {
  const auto others = std::ranges::count_if(slots, [](const analysis::SizeSlot& slot) { return slot.value > 1; });
  for (size_t i = 0; i < slots.size(); ++i) {
    if (sizes[i].is_constant()) continue;
    const analysis::SizeSlot& slot = slots[i];
    if (slot.rule == analysis::SizeRule::Number && slot.value >= kLarge)
      return fmt::format("{} may be a size or a number of its own", slot.value);
    const bool leads = slot.value == 1 && slot.position == 0,
               of_new = slot.rule == analysis::SizeRule::Create && (slots.size() >= kTableAxes || slots.size() == 1),
               of_copies = slot.rule == analysis::SizeRule::Repeat && others > 0,
               of_weight = slot.rule == analysis::SizeRule::Expand && others > 0 && shows_weight(graph, id);
    if (leads && (of_new || of_copies || of_weight)) return "its first 1 may be the batch or a number of its own";
  }
  return {};
}

}  // namespace passnet::dataset
