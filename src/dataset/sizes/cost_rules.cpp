#include "dataset/sizes/cost_rules.h"

#include <algorithm>
#include <cstdlib>
#include <ranges>

#include "fx/print.h"

namespace passnet::dataset {

using analysis::Dim;
using analysis::SizeExpression;
using analysis::SizeRule;
using ir::ArgKind;

namespace {

/// Integers below this equal some size by chance too often: they are taken for sizes only where nothing else fits.
constexpr int64_t kTelling = 4;
constexpr int kNear = 1;     // a size of the operand, or one seen before
constexpr int kDerived = 4;  // computed from a size seen before
constexpr int kKeep = 6;     // the integer stays what it is where a size is likely

constexpr size_t kMostSeen = 12, kMostProducts = 4;  // sizes and products seen before that one rule tries

/// The integer that guesses are made for.
struct Asked {
  const SizedNode& node;
  const analysis::SizeSlot& slot;
  Stretch axes;  // of the operand: what it may be made of
  int64_t value = slot.value;
  size_t axis = slot.position;  // of the operand: what a bound, a piece or a number of copies is for
};
using Guesses = std::vector<Guess>;

// --- The operand and its sizes ---

Dim dim_at(const SizedNode& node, size_t axis) { return {node.operand, static_cast<uint32_t>(axis)}; }
SizeExpression size_at(const SizedNode& node, size_t axis) { return SizeExpression::of(dim_at(node, axis)); }

bool has_axis(const Asked& asked) { return asked.axis < asked.node.shape.size(); }
bool axis_changes(const Asked& asked) { return has_axis(asked) && asked.node.changing[asked.axis]; }
bool operand_changes(const SizedNode& node) { return std::ranges::find(node.changing, true) != node.changing.end(); }

bool operand_is_weight(const SizedNode& node) {
  return node.graph.node(node.operand).kind == ir::NodeKind::Placeholder &&
         !node.probes.front().integral[node.operand] && !operand_changes(node);
}

// How many sizes an `expand` gives its result.
size_t expanded_rank(const SizedNode& node) {
  size_t rank = 0;
  for (const ir::Arg& arg : node.graph.args(node.id).subspan(1))
    rank += arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List ? arg.count : 1;
  return rank;
}

SizeExpression scaled(SizeExpression size, int64_t factor, int64_t offset) {
  size.factor *= factor;
  size.offset += offset;
  return size;
}

SizeExpression divided(SizeExpression size, int64_t divisor) {
  size.divisor = divisor;
  return size;
}

SizeExpression divided(SizeExpression size, const std::vector<Dim>& divisors) {
  size.divisors.insert(size.divisors.end(), divisors.begin(), divisors.end());
  return size;
}

// --- Guesses. The cost of each is what it costs above its rule: 0 but where a rule makes several kinds ---

auto latest(std::span<const SizePool::Seen> seen, size_t most) {
  return seen | std::views::reverse | std::views::take(most);
}

// factor * size + offset, with the sign of the integer, of the sizes seen before that were `captured`, the latest first.
void add_scaled(const Asked& asked, int64_t captured, int64_t factor, int64_t offset, int cost, Guesses& guesses) {
  const int64_t sign = asked.value < 0 ? -1 : 1;
  int later = 0;
  for (const SizePool::Seen& seen : latest(asked.node.pool.changing(captured), kMostSeen))
    guesses.push_back({scaled(seen.size, factor * sign, offset * sign), cost + std::min(later++, 3)});
}

// The same of products of two neighbouring sizes.
void add_areas(const Asked& asked, int64_t captured, int64_t offset, int cost, Guesses& guesses) {
  for (const SizePool::Seen& seen : latest(asked.node.pool.areas(captured), kMostProducts))
    guesses.push_back({scaled(seen.size, 1, offset), cost});
}

// Quotients of the size by sizes seen before that were `captured`.
void add_quotients(const Asked& asked, const SizeExpression& size, int64_t captured, int cost, Guesses& guesses) {
  for (const SizePool::Seen& seen : asked.node.pool.changing(captured))
    guesses.push_back({divided(size, seen.size.factors), cost});
}

void constant(const Asked& asked, Guesses& guesses) { guesses.push_back({SizeExpression::constant(asked.value)}); }

void seen_size(const Asked& asked, Guesses& guesses) { add_scaled(asked, std::abs(asked.value), 1, 0, 0, guesses); }

void seen_area(const Asked& asked, Guesses& guesses) { add_areas(asked, asked.value, 0, 0, guesses); }

// One more or one less than a size seen before, its double, one less than that, an area, or one more than an area.
void derived(const Asked& asked, Guesses& guesses) {
  const int64_t value = std::abs(asked.value);
  add_scaled(asked, value - 1, 1, 1, 0, guesses);
  add_scaled(asked, value + 1, 1, -1, 1, guesses);
  if (value % 2 == 1) add_scaled(asked, (value + 1) / 2, 2, -1, 1, guesses);
  if (value % 2 == 0) add_scaled(asked, value / 2, 2, 0, 2, guesses);
  add_areas(asked, value, 0, 0, guesses);
  add_areas(asked, value - 1, 1, 1, guesses);
}

// The batch, which was captured as 1, times a constant such as the number of heads.
void times_batch(const Asked& asked, Guesses& guesses) {
  for (const SizePool::Seen& batch : asked.node.pool.changing(1))
    guesses.push_back({scaled(batch.size, asked.value, 0)});
}

// The axis that a slice is taken of, as a whole.
void whole_axis(const Asked& asked, Guesses& guesses) {
  if (axis_changes(asked) && asked.value == asked.node.shape[asked.axis])
    guesses.push_back({size_at(asked.node, asked.axis)});
}

// The axis but for its last element or two.
void rest_of_axis(const Asked& asked, Guesses& guesses) {
  if (!axis_changes(asked) || asked.value < 0 || asked.value + 2 < asked.node.shape[asked.axis]) return;
  guesses.push_back({scaled(size_at(asked.node, asked.axis), 1, asked.value - asked.node.shape[asked.axis])});
}

// One of equal parts of the axis.
void share_of_axis(const Asked& asked, Guesses& guesses) {
  if (axis_changes(asked) && asked.node.shape[asked.axis] % asked.value == 0)
    guesses.push_back({divided(size_at(asked.node, asked.axis), asked.node.shape[asked.axis] / asked.value)});
}

void half_of_axis(const Asked& asked, Guesses& guesses) {
  if (has_axis(asked) && 2 * asked.value == asked.node.shape[asked.axis]) share_of_axis(asked, guesses);
}

// The size that an `expand` finds there already, unless that is a 1 to be broadcast.
void kept_axis(const Asked& asked, Guesses& guesses) {
  const std::vector<int64_t>& shape = asked.node.shape;
  const size_t axis = asked.slot.position + shape.size() - expanded_rank(asked.node);
  if (axis < shape.size() && shape[axis] == asked.value && (shape[axis] > 1 || asked.node.changing[axis]))
    guesses.push_back({size_at(asked.node, axis)});
}

// As many copies as make the axis a size seen before.
void copies_up_to_seen(const Asked& asked, Guesses& guesses) {
  if (!has_axis(asked)) return;
  const int64_t captured = asked.value * asked.node.shape[asked.axis];
  for (const SizePool::Seen& seen : latest(asked.node.pool.changing(captured), kMostProducts))
    guesses.push_back({divided(seen.size, {dim_at(asked.node, asked.axis)})});
}

void one_size(const Asked& asked, Guesses& guesses) {
  for (size_t axis = asked.axes.begin; axis < asked.axes.end; ++axis) guesses.push_back({size_at(asked.node, axis)});
}

// The product of all sizes that it may be made of, by a constant or by a size seen before.
void share_of_product(const Asked& asked, Guesses& guesses) {
  int64_t elements = 1;
  for (size_t axis = asked.axes.begin; axis < asked.axes.end; ++axis) elements *= asked.node.shape[axis];
  if (asked.axes.size() == 0 || elements % asked.value != 0) return;
  const SizeExpression product = product_of(asked.node, asked.axes);
  guesses.push_back({divided(product, elements / asked.value)});
  add_quotients(asked, product, elements / asked.value, 1, guesses);
}

// One of them, by a size seen before or by a constant.
void share_of_one_size(const Asked& asked, Guesses& guesses) {
  for (size_t axis = asked.axes.begin; axis < asked.axes.end; ++axis) {
    const int64_t size = asked.node.shape[axis];
    if (size == 0 || size % asked.value != 0) continue;
    add_quotients(asked, size_at(asked.node, axis), size / asked.value, 0, guesses);
    guesses.push_back({divided(size_at(asked.node, axis), size / asked.value)});
  }
}

// --- What costs depend on ---

bool leads(const Asked& asked) { return asked.slot.position == 0; }
bool is_small(const Asked& asked) { return std::abs(asked.value) < kTelling; }
bool is_small_number(const Asked& asked) { return asked.value < 2 * kTelling; }
bool is_short_range(const Asked& asked) { return asked.value > 0 && is_small(asked); }
bool is_large(const Asked& asked) { return asked.value >= 64; }

// The batch comes first among the sizes of a new tensor; in an `expand` it may come after constants, such as the number
// of heads. Of an `expand` that has one number, and -1 for the rest, a number that comes first may just keep its axis: it
// is the batch where it adds an axis, or where the operand is a weight, which has no batch of its own. Any other number
// that is alone is taken for the batch.
bool is_place_of_batch(const Asked& asked) {
  const SizedNode& node = asked.node;
  if (asked.slot.rule != SizeRule::Expand) return leads(asked);
  const bool after_constants =
      node.slots[0].position == 0 &&
      std::all_of(node.slots.data(), &asked.slot, [](const analysis::SizeSlot& before) { return before.value > 1; });
  if (!leads(asked) && !after_constants) return node.slots.size() == 1;
  return node.slots.size() > 1 || expanded_rank(node) > node.shape.size() || operand_is_weight(node);
}
bool is_small_beside_batch(const Asked& asked) { return is_small(asked) && !is_place_of_batch(asked); }

// Copies along a first axis of one size may be the batch.
bool copies_to_batch(const Asked& asked) { return asked.axis == 0 && !axis_changes(asked); }

// The statement before makes the same call.
bool repeats_statement_before(const Asked& asked) {
  const auto without_name = [&](ir::NodeId id) {
    const ir::Node& node = asked.node.graph.node(id);
    return fx::print_node(asked.node.graph, node).substr(node.name.size());
  };
  return without_name(asked.node.id) == without_name(asked.node.id - 1);
}

// A bound that cuts channels into parts does not depend on the inputs' sizes. One that cuts a table, which has the same
// sizes for all inputs, is the size of something else.
bool is_fixed_bound(const Asked& asked) {
  return !has_axis(asked) || is_small(asked) || (!axis_changes(asked) && operand_changes(asked.node));
}

bool is_fixed_piece(const Asked& asked) { return !axis_changes(asked) || is_small(asked); }

// --- The rules ---

/// Which integers a rule is for. A 1 is rarely a size, except where the batch is, so it has rules of its own.
enum class Value : uint8_t { Any, One, Other };

struct CostRule {
  SizeRule rule;  // of the integers that it is for; those of Create are for Expand, too
  Value value;
  void (*add_guesses)(const Asked& asked, Guesses& guesses);
  int cost;
  bool (*is_special)(const Asked& asked) = nullptr;
  int special_cost = 0;  // where is_special, in place of `cost`
};

/// Of guesses that cost the same, that of the earlier rule is tried first.
constexpr CostRule kRules[] = {
    // view, reshape: made of the axes that hold as many elements as the part of the view that it is in. The number
    // itself comes after quotients: where a size becomes two, as in `view(8, 7)`, it is usually the first that changes.
    {SizeRule::View, Value::Any, one_size, kNear},
    {SizeRule::View, Value::One, constant, kNear + 1},
    {SizeRule::View, Value::One, seen_size, kKeep, leads, kNear},
    {SizeRule::View, Value::Other, seen_size, kNear, is_small, kKeep},
    {SizeRule::View, Value::Other, seen_area, kNear + 2},
    {SizeRule::View, Value::Other, share_of_product, kNear + 1},
    {SizeRule::View, Value::Other, share_of_one_size, kNear + 2},
    {SizeRule::View, Value::Other, constant, kNear + 1},
    {SizeRule::View, Value::Other, times_batch, kNear + 3},

    // expand: the axis that is there, else as for new tensors.
    {SizeRule::Expand, Value::Any, kept_axis, 0},

    // New tensors: a small number is a size only where the batch is.
    {SizeRule::Create, Value::One, constant, 0, is_place_of_batch, kNear + 1},
    {SizeRule::Create, Value::One, seen_size, kNear, is_place_of_batch, 0},
    {SizeRule::Create, Value::Other, seen_size, kNear, is_small_beside_batch, kFar},
    {SizeRule::Create, Value::Other, constant, kKeep, is_small, kNear + 3},
    {SizeRule::Create, Value::Other, derived, kFar, is_large, kDerived},

    // repeat: small numbers of copies stay, but a single copy may stand for the batch.
    {SizeRule::Repeat, Value::One, constant, 0, copies_to_batch, kNear + 1},
    {SizeRule::Repeat, Value::One, seen_size, kFar, copies_to_batch, 0},
    {SizeRule::Repeat, Value::Other, copies_up_to_seen, kNear + 1},
    {SizeRule::Repeat, Value::Other, seen_size, kNear},
    {SizeRule::Repeat, Value::Other, constant, kKeep, is_small, 0},

    // arange and the like: one that ends at 1 is a size, for nobody counts to 1 on purpose. Of two such in a row the
    // first counts the batch and the second the heads, which stay.
    {SizeRule::Range, Value::One, constant, kKeep, repeats_statement_before, 0},
    {SizeRule::Range, Value::Other, constant, kKeep, is_short_range, 0},
    {SizeRule::Range, Value::Any, seen_size, kNear},
    {SizeRule::Range, Value::Other, derived, kDerived},

    // x[a:b]
    {SizeRule::Slice, Value::Any, whole_axis, 0},
    {SizeRule::Slice, Value::Any, constant, kKeep, is_fixed_bound, 0},
    {SizeRule::Slice, Value::Other, seen_size, kNear, is_fixed_bound, kFar},
    {SizeRule::Slice, Value::Other, rest_of_axis, kNear + 2},
    {SizeRule::Slice, Value::Other, half_of_axis, kNear + 1},
    {SizeRule::Slice, Value::Other, derived, kFar, is_small, kFar + 2},

    // split, chunk
    {SizeRule::Split, Value::Any, constant, kKeep, is_fixed_piece, 0},
    {SizeRule::Split, Value::Any, seen_size, kNear},
    {SizeRule::Split, Value::Any, seen_area, kNear + 1},
    {SizeRule::Split, Value::Any, share_of_axis, kNear + 1},
    {SizeRule::Split, Value::Any, derived, kDerived},

    // Numbers that integers are compared or computed with.
    {SizeRule::Number, Value::Any, constant, kNear + 2, is_small_number, 0},
    {SizeRule::Number, Value::Any, seen_size, kNear},
};

// A bound of what is no tensor stays, and so do pieces of an axis that does not change.
bool can_only_stay(const Asked& asked) {
  return (asked.slot.rule == SizeRule::Slice && !has_axis(asked)) ||
         (asked.slot.rule == SizeRule::Split && !axis_changes(asked));
}

bool is_for(const CostRule& row, const Asked& asked) {
  const SizeRule rule = asked.slot.rule;
  return (row.rule == rule || (row.rule == SizeRule::Create && rule == SizeRule::Expand)) &&
         (row.value == Value::Any || (row.value == Value::One) == (asked.value == 1)) &&
         (row.add_guesses == constant || !can_only_stay(asked));
}

}  // namespace

std::vector<Guess> guesses(const SizedNode& node, size_t slot, Stretch axes) {
  const Asked asked{node, node.slots[slot], axes};
  std::vector<Guess> made;
  for (const CostRule& row : kRules) {
    if (!is_for(row, asked)) continue;
    const bool special = row.is_special != nullptr && row.is_special(asked);
    const size_t before = made.size();
    row.add_guesses(asked, made);
    for (Guess& guess : std::span(made).subspan(before)) guess.cost += special ? row.special_cost : row.cost;
  }
  return made;
}

SizeExpression product_of(const SizedNode& node, Stretch axes) {
  SizeExpression product = SizeExpression::constant(1);
  for (size_t axis = axes.begin; axis < axes.end; ++axis) product.factors.push_back(dim_at(node, axis));
  return product;
}

}  // namespace passnet::dataset
