#include "dataset/sizes/choice.h"

#include <algorithm>
#include <functional>
#include <optional>

#include "fx/print.h"

namespace passnet::dataset {

using ir::ArgKind;
using ir::NodeId;

namespace {

constexpr size_t kAssignments = 12;
/// Integers below this equal some size by chance too often: they are taken for sizes only where nothing else fits.
constexpr int64_t kTelling = 4;
/// Costs of candidates, lowest is best; those of a node's slots are added up.
constexpr int kNear = 1, kDerived = 4, kKeep = 6, kFar = 8;

struct Candidate {
  analysis::SizeExpression size;
  Profile profile;
  int cost = 0;
};

/// Neighbouring sizes of the first operand, and the neighbouring sizes of its view that hold the same elements.
struct Part {
  size_t first_own = 0, own_end = 0, first_slot = 0, slot_end = 0;
};

class Choosing {
 public:
  Choosing(const ir::Graph& graph, NodeId id, std::span<const analysis::SizeSlot> slots, const Probes& probes,
           const SizePool& pool, std::span<const std::vector<int64_t>> required)
      : graph_(graph),
        id_(id),
        slots_(slots),
        probes_(probes),
        pool_(pool),
        required_(required),
        candidates_(slots.size()) {
    const std::span<const ir::Arg> args = graph.args(id);
    if (!args.empty() && args[0].kind == ArgKind::Node && probes.front().shape[args[0].node]) {
      operand_ = args[0].node;
      own_ = *probes.front().shape[operand_];
    }
  }

  std::vector<Assignment> run() {
    const analysis::SizeRule rule = slots_.front().rule;
    if (rule == analysis::SizeRule::View) align();
    for (size_t i = 0; i < slots_.size(); ++i) {
      if (candidates_[i].empty()) collect(i);
      std::ranges::stable_sort(candidates_[i], {}, &Candidate::cost);
    }
    std::vector<size_t> picked;
    combine(picked, 0);
    std::ranges::stable_sort(found_, {}, &Found::cost);
    std::vector<Assignment> best;
    for (Found& one : found_) {
      if (best.size() < kAssignments) best.push_back(std::move(one.assignment));
    }
    return best;
  }

 private:
  struct Found {
    Assignment assignment;
    int cost;
  };

  std::optional<Profile> own_profile(size_t axis) const {
    return profile_of(analysis::SizeExpression::of({operand_, static_cast<uint32_t>(axis)}), probes_);
  }
  bool own_changes(size_t axis) const {
    const auto profile = axis < own_.size() ? own_profile(axis) : std::nullopt;
    return profile && changes(*profile);
  }
  bool operand_changes() const {
    for (size_t axis = 0; axis < own_.size(); ++axis) {
      if (own_changes(axis)) return true;
    }
    return false;
  }

  /// Adds what gives the captured value, and what another capture has, in the place of slot i.
  void add(size_t i, analysis::SizeExpression size, int cost) {
    std::optional<Profile> profile = profile_of(size, probes_);
    if (!profile || profile->front() != slots_[i].value) return;
    if (open_batch_ && changes_with_batch(*profile)) cost += kFar;
    for (size_t p = 0; p < required_.size(); ++p) {
      if (!required_[p].empty() && (*profile)[p] != required_[p][i]) return;
    }
    if (!changes(*profile)) size = analysis::SizeExpression::constant(slots_[i].value);
    for (Candidate& known : candidates_[i]) {
      if (known.profile != *profile) continue;
      if (cost < known.cost) known.size = std::move(size), known.cost = cost;
      return;
    }
    candidates_[i].push_back({std::move(size), std::move(*profile), cost});
  }
  /// The batch changes alone before it changes with others.
  bool changes_with_batch(const Profile& profile) const {
    for (const SizePool::Seen& batch : pool_.changing(1)) {
      for (size_t p = 1; p < profile.size(); ++p) {
        if (batch.profile[p] != 1) return profile[p] != profile.front();
      }
    }
    return false;
  }
  void keep(size_t i, int cost) { add(i, analysis::SizeExpression::constant(slots_[i].value), cost); }

  /// Sizes seen before, the most recent first.
  void add_seen(size_t i, int cost) { add_scaled(i, std::abs(slots_[i].value), 1, 0, cost); }
  /// size * (sign of the slot) + offset, of sizes that were `captured`.
  void add_scaled(size_t i, int64_t captured, int64_t factor, int64_t offset, int cost) {
    const std::span<const SizePool::Seen> seen = pool_.changing(captured);
    for (size_t k = 0; k < seen.size() && k < kAssignments; ++k) {
      analysis::SizeExpression size = seen[seen.size() - 1 - k].size;
      const int64_t sign = slots_[i].value < 0 ? -1 : 1;
      size.factor *= factor * sign;
      size.offset += offset * sign;
      add(i, std::move(size), cost + static_cast<int>(std::min<size_t>(k, 3)));
    }
  }
  void add_derived(size_t i, int cost) {
    const int64_t value = std::abs(slots_[i].value);
    add_scaled(i, value - 1, 1, 1, cost);
    add_scaled(i, value + 1, 1, -1, cost + 1);
    if (value % 2 == 1) add_scaled(i, (value + 1) / 2, 2, -1, cost + 1);
    if (value % 2 == 0) add_scaled(i, value / 2, 2, 0, cost + 2);
    add_areas(i, value, 0, cost);
    add_areas(i, value - 1, 1, cost + 1);
  }
  void add_areas(size_t i, int64_t captured, int64_t offset, int cost) {
    const std::span<const SizePool::Seen> seen = pool_.areas(captured);
    for (size_t k = 0; k < seen.size() && k < 4; ++k) {
      analysis::SizeExpression size = seen[seen.size() - 1 - k].size;
      size.offset += offset;
      add(i, std::move(size), cost);
    }
  }

  void collect(size_t i) {
    const analysis::SizeSlot& slot = slots_[i];
    switch (slot.rule) {
      case analysis::SizeRule::View: return collect_view(i, Part{0, own_.size(), 0, slots_.size()});
      case analysis::SizeRule::Expand: return collect_expand(i);
      case analysis::SizeRule::Repeat: return collect_repeat(i);
      case analysis::SizeRule::Create: return collect_create(i, slot.position == 0);
      case analysis::SizeRule::Range: return collect_range(i);
      case analysis::SizeRule::Slice: return collect_slice(i);
      case analysis::SizeRule::Split: return collect_split(i);
      case analysis::SizeRule::Number: keep(i, slot.value < 2 * kTelling ? 0 : kNear + 2); return add_seen(i, kNear);
      default: break;  // no slot has another
    }
  }

  void collect_create(size_t i, bool leading) {
    const int64_t value = slots_[i].value;
    if (value == 1) {
      keep(i, leading ? kNear + 1 : 0);
      add_seen(i, leading ? 0 : kNear);
      return;
    }
    add_seen(i, value < kTelling && !leading ? kFar : kNear);
    keep(i, value < kTelling ? kNear + 3 : kKeep);
    add_derived(i, value >= 64 ? kDerived : kFar);
  }

  void collect_range(size_t i) {
    const int64_t value = slots_[i].value;
    // The end of a range is rarely 1, except where a size is 1. Of two equal ranges in a row the second counts heads.
    keep(i, (value > 1 && value < kTelling) || (value == 1 && follows_like_node()) ? 0 : kKeep);
    add_seen(i, kNear);
    if (value != 1) add_derived(i, kDerived);
  }

  bool follows_like_node() const {
    const auto like = [&](ir::NodeId other) { return fx::print_node(graph_, graph_.node(other)); };
    const std::string name(graph_.node(id_).name), before(graph_.node(id_ - 1).name);
    return like(id_).substr(name.size()) == like(id_ - 1).substr(before.size());
  }

  void collect_expand(size_t i) {
    size_t count = 0;  // sizes of the result
    for (const auto& arg : graph_.args(id_).subspan(1))
      count += arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List ? arg.count : 1;
    const size_t axis = slots_[i].position + own_.size() - count;
    if (axis < own_.size() && own_[axis] == slots_[i].value && (own_[axis] > 1 || own_changes(axis)))
      add(i, analysis::SizeExpression::of({operand_, static_cast<uint32_t>(axis)}), 0);
    // A 1 with nothing but `-1` beside it may only keep its axis. A weight has no batch, so there it is the new one.
    const bool adds_axis = count > own_.size(), leads = first_one(i),
               of_weight = graph_.node(operand_).kind == ir::NodeKind::Placeholder &&
                           !probes_.front().integral[operand_] && !operand_changes();
    collect_create(i, leads ? adds_axis || of_weight || slots_.size() > 1 : slots_.size() == 1);
  }

  // Constants may stand before the batch, such as the number of heads or of kinds of positions.
  bool first_one(size_t i) const {
    if (slots_[i].position == 0) return true;
    return slots_[0].position == 0 && std::all_of(slots_.begin(), slots_.begin() + static_cast<ptrdiff_t>(i),
                                                  [](const analysis::SizeSlot& slot) { return slot.value > 1; });
  }

  void collect_repeat(size_t i) {
    const size_t axis = slots_[i].position;
    if (slots_[i].value == 1) {
      const bool leading = axis == 0 && !own_changes(0);
      keep(i, leading ? kNear + 1 : 0);
      add_seen(i, leading ? 0 : kFar);
      return;
    }
    if (axis < own_.size()) {
      const std::span<const SizePool::Seen> seen = pool_.changing(slots_[i].value * own_[axis]);
      for (size_t k = 0; k < seen.size() && k < 4; ++k) {
        analysis::SizeExpression size = seen[seen.size() - 1 - k].size;
        size.divisors.push_back({operand_, static_cast<uint32_t>(axis)});
        add(i, std::move(size), kNear + 1);
      }
    }
    add_seen(i, kNear);
    keep(i, slots_[i].value < kTelling ? 0 : kKeep);
  }

  void collect_slice(size_t i) {
    const int64_t value = slots_[i].value;
    const size_t axis = slots_[i].position;
    const bool small = std::abs(value) < kTelling;
    if (axis >= own_.size()) return keep(i, 0);
    if (value == own_[axis] && own_changes(axis))
      add(i, analysis::SizeExpression::of({operand_, static_cast<uint32_t>(axis)}), 0);
    // A bound that cuts channels into parts does not depend on the inputs' sizes; one that cuts a table is the size of
    // something else.
    const bool of_channels = !own_changes(axis) && operand_changes();
    keep(i, small || of_channels ? 0 : kKeep);
    if (std::abs(value) == 1) return;
    add_seen(i, small || of_channels ? kFar : kNear);
    if (own_changes(axis) && value > 0) {
      analysis::SizeExpression rest = analysis::SizeExpression::of({operand_, static_cast<uint32_t>(axis)});
      rest.offset = value - own_[axis];
      if (rest.offset >= -2) add(i, rest, kNear + 2);
      if (2 * value == own_[axis]) add(i, {{{operand_, static_cast<uint32_t>(axis)}}, {}, 1, 2, 0}, kNear + 1);
    }
    add_derived(i, small ? kFar + 2 : kFar);
  }

  void collect_split(size_t i) {
    const size_t axis = slots_[i].position;
    keep(i, own_changes(axis) && slots_[i].value >= kTelling ? kKeep : 0);
    if (!own_changes(axis)) return;
    add_seen(i, kNear);
    add_areas(i, slots_[i].value, 0, kNear + 1);
    if (own_[axis] % slots_[i].value == 0)
      add(i, {{{operand_, static_cast<uint32_t>(axis)}}, {}, 1, own_[axis] / slots_[i].value, 0}, kNear + 1);
    add_derived(i, kDerived);
  }

  // Splits the view into parts of equally many elements, from both ends up to where it says -1.
  void align() {
    const auto entries = sizes_of_view();
    open_batch_ = !entries.empty() && entries.front().value < 0;
    size_t own = 0, own_end = own_.size(), entry = 0, entry_end = entries.size();
    while (entry < entry_end && own < own_end) {
      const auto part = next_part(entries, own, own_end, entry, entry_end, true);
      if (!part || (part->own_end == own_end && has_rest(entries, part->slot_end, entry_end))) break;
      settle(*part, entries);
      own = part->own_end, entry = part->slot_end;
    }
    while (entry < entry_end && own < own_end) {
      const auto part = next_part(entries, own, own_end, entry, entry_end, false);
      if (!part || (part->first_own == own && has_rest(entries, entry, part->first_slot))) break;
      settle(*part, entries);
      own_end = part->first_own, entry_end = part->first_slot;
    }
    settle({own, own_end, entry, entry_end}, entries);
  }

  struct Entry {
    int64_t value = -1;  // -1: the rest
    std::optional<size_t> slot;
  };
  std::vector<Entry> sizes_of_view() const {
    std::vector<Entry> entries;
    const auto read = [&](const ir::Arg& arg) {
      Entry entry;
      entry.value = arg.kind == ArgKind::Int ? arg.integer : -1;
      for (size_t i = 0; i < slots_.size(); ++i) {
        if (slots_[i].position == entries.size()) entry.slot = i;
      }
      entries.push_back(entry);
    };
    const auto read_all = [&](const ir::Arg& arg) {
      if (arg.kind == ArgKind::Tuple || arg.kind == ArgKind::List)
        for (const ir::Arg& element : graph_.elements(arg)) read(element);
      else
        read(arg);
    };
    for (const ir::Arg& arg : graph_.args(id_).subspan(std::min<size_t>(1, graph_.args(id_).size()))) read_all(arg);
    for (const ir::Keyword& keyword : graph_.keywords(id_)) read_all(keyword.value);
    return entries;
  }

  // Whether a -1 is among the entries that are left: some size must be left for it, too.
  static bool has_rest(const std::vector<Entry>& entries, size_t first, size_t end) {
    return std::any_of(entries.begin() + static_cast<ptrdiff_t>(first), entries.begin() + static_cast<ptrdiff_t>(end),
                       [](const Entry& entry) { return entry.value < 0; });
  }

  // The shortest part with equally many elements on both sides at one end of what is left.
  std::optional<Part> next_part(const std::vector<Entry>& entries, size_t own, size_t own_end, size_t entry,
                                size_t entry_end, bool from_left) const {
    size_t owns = 1, count = 1;
    const auto own_at = [&](size_t k) { return from_left ? own_[own + k] : own_[own_end - 1 - k]; };
    const auto entry_at = [&](size_t k) { return (from_left ? entries[entry + k] : entries[entry_end - 1 - k]).value; };
    int64_t left = own_at(0), right = entry_at(0);
    while (left != right) {
      if (right < 0) return std::nullopt;
      if (left < right) {
        if (own + owns == own_end) return std::nullopt;
        left *= own_at(owns++);
      } else {
        if (entry + count == entry_end || entry_at(count) < 0) return std::nullopt;
        right *= entry_at(count++);
      }
    }
    return from_left ? Part{own, own + owns, entry, entry + count}
                     : Part{own_end - owns, own_end, entry_end - count, entry_end};
  }

  void settle(const Part& part, const std::vector<Entry>& entries) {
    parts_.push_back(part);
    analysis::SizeExpression product = analysis::SizeExpression::constant(1);
    for (size_t axis = part.first_own; axis < part.own_end; ++axis)
      product.factors.push_back({operand_, static_cast<uint32_t>(axis)});
    const bool one = part.slot_end - part.first_slot == 1;
    for (size_t k = part.first_slot; k < part.slot_end; ++k) {
      if (!entries[k].slot) continue;
      const size_t i = *entries[k].slot;
      if (one && !product.is_constant()) add(i, product, 0);
      if (!one || product.is_constant() || candidates_[i].empty()) collect_view(i, part);
    }
  }

  void collect_view(size_t i, const Part& part) {
    const int64_t value = slots_[i].value;
    analysis::SizeExpression product = analysis::SizeExpression::constant(1);
    int64_t elements = 1;
    for (size_t axis = part.first_own; axis < part.own_end; ++axis) {
      const analysis::Dim dim{operand_, static_cast<uint32_t>(axis)};
      add(i, analysis::SizeExpression::of(dim), kNear);
      product.factors.push_back(dim);
      elements *= own_[axis];
    }
    if (value == 1) {
      keep(i, kNear + 1);
      add_seen(i, slots_[i].position == 0 ? kNear : kKeep);
      return;
    }
    add_seen(i, value < kTelling ? kKeep : kNear);
    add_areas(i, value, 0, kNear + 2);
    if (!product.is_constant() && elements % value == 0) {
      analysis::SizeExpression part_of = product;
      part_of.divisor = elements / value;
      add(i, part_of, kNear + 1);
      add_divided(i, product, elements / value, kNear + 2);
    }
    for (const analysis::Dim& dim : product.factors) {
      const int64_t size = own_[dim.axis];
      if (size % value != 0 || size == 0) continue;
      add_divided(i, analysis::SizeExpression::of(dim), size / value, kNear + 2);
      analysis::SizeExpression part_of = analysis::SizeExpression::of(dim);
      part_of.divisor = size / value;
      add(i, part_of, kNear + 2);
    }
    // Costs more than a quotient: of the two sizes in `view(8, 7)` it is usually the first that changes.
    keep(i, kNear + 1);
    // A constant, such as the number of heads, times the batch.
    for (const SizePool::Seen& seen : pool_.changing(1)) {
      analysis::SizeExpression times = seen.size;
      times.factor *= value;
      add(i, times, kNear + 3);
    }
  }

  // The product by sizes seen before, for all that are `captured`.
  void add_divided(size_t i, const analysis::SizeExpression& product, int64_t captured, int cost) {
    for (const SizePool::Seen& seen : pool_.changing(captured)) {
      analysis::SizeExpression divided = product;
      divided.divisors.insert(divided.divisors.end(), seen.size.factors.begin(), seen.size.factors.end());
      add(i, divided, cost);
    }
  }

  // All assignments that keep the number of elements, by depth-first search over the candidates.
  void combine(std::vector<size_t>& picked, int cost) {
    if (++visited_ > 20000 || found_.size() > 200) return;
    const size_t i = picked.size();
    if (i == slots_.size()) {
      if (!fits(picked)) return;
      Found found{{}, cost};
      for (size_t k = 0; k < i; ++k) found.assignment.push_back(candidates_[k][picked[k]].size);
      found_.push_back(std::move(found));
      return;
    }
    for (size_t k = 0; k < candidates_[i].size(); ++k) {
      picked.push_back(k);
      combine(picked, cost + candidates_[i][k].cost);
      picked.pop_back();
    }
  }

  // Each part of a view holds as many elements as the sizes it is made of, at all probes.
  bool fits(const std::vector<size_t>& picked) const {
    const std::vector<Entry> entries = parts_.empty() ? std::vector<Entry>() : sizes_of_view();
    return std::ranges::all_of(parts_, [&](const Part& part) {
      for (size_t p = 0; p < probes_.size(); ++p) {
        int64_t elements = 1, wanted = 1;
        bool open = false;  // it says -1, or takes a size from a value
        for (size_t axis = part.first_own; axis < part.own_end; ++axis) elements *= (*probes_[p].shape[operand_])[axis];
        for (size_t k = part.first_slot; k < part.slot_end; ++k) {
          open |= entries[k].value < 0;
          if (entries[k].slot) wanted *= candidates_[*entries[k].slot][picked[*entries[k].slot]].profile[p];
        }
        if (wanted == 0 || (open ? elements % wanted != 0 : elements != wanted)) return false;
      }
      return true;
    });
  }

  const ir::Graph& graph_;
  const NodeId id_;
  const std::span<const analysis::SizeSlot> slots_;
  const Probes& probes_;
  const SizePool& pool_;
  const std::span<const std::vector<int64_t>> required_;
  NodeId operand_ = ir::kNoNode;
  std::vector<int64_t> own_;  // the first operand's shape as captured
  std::vector<std::vector<Candidate>> candidates_;
  std::vector<Part> parts_;  // of a view
  std::vector<Found> found_;
  size_t visited_ = 0;
  bool open_batch_ = false;  // a view that begins with -1, which stands for the batch too
};

}  // namespace

std::vector<Assignment> size_assignments(const ir::Graph& graph, NodeId id, std::span<const analysis::SizeSlot> slots,
                                         const Probes& probes, const SizePool& pool,
                                         std::span<const std::vector<int64_t>> required) {
  return Choosing(graph, id, slots, probes, pool, required).run();
}

}  // namespace passnet::dataset
