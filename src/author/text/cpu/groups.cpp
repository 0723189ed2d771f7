// Lanes in groups, where a loop of two or four steps was merged into the lanes' loop: a stack of tensors, whose elements take
// turns, and elements that stand there several times.
#include <fmt/format.h>

#include <algorithm>

#include "author/text/cpu/kernel.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

}  // namespace

/// How many lanes a group has, each vector whole groups. nullopt: it has not.
std::optional<int64_t> CpuKernel::group_of(SizeId length) {
  const std::optional<int64_t> lanes = sizes_.number(length);
  if (!lanes || *lanes < 2 || kLanes % *lanes != 0 || facts_.product || part_.is_split() || planes_)
    return std::nullopt;
  // Tasks begin at multiples of what a vector has.
  const auto is_whole = [&](int64_t extent) { return extent % *lanes == 0; };
  return std::ranges::all_of(sizes_.values(lane_->extent), is_whole) ? lanes : std::nullopt;
}

/// Tells whether it can be computed of all lanes, in groups of `length`: what it loads is there for lanes that take
/// another turn too.
bool CpuKernel::is_there_in_groups(ExprId id, SizeId length) {
  if (!moves_with_lane(id)) return true;
  const Expr& expr = exprs_.at(id);
  if (expr.kind == Kind::Load)
    return std::ranges::all_of(expr.places, [&](IndexId place) {
      std::optional<SizeId> group = length;
      return is_same_in_piece(place, group);
    });
  if (expr.kind != Kind::Apply && expr.kind != Kind::Round && expr.kind != Kind::Convert) return false;
  bool all = true;
  exprs_.for_each_part(id, [&](ExprId part) { all = all && is_there_in_groups(part, length); });
  return all;
}

/// Describes a Guard whose parts take turns within groups of lanes.
std::optional<CpuKernel::Turns> CpuKernel::turns_of(ExprId id) {
  if (!lane_ || exprs_.at(id).compute != Compute::Float) return std::nullopt;
  std::optional<Parts> parts = any_parts_of(exprs_, id);
  if (!parts) return std::nullopt;
  const Index turn = indices_.at(parts->index);
  if (turn.kind != Index::Kind::Remainder || turn.a != indices_.variable(lane_->variable)) return std::nullopt;
  const std::optional<int64_t> lanes = group_of(turn.size);
  const auto is_there = [&](ExprId value) { return is_there_in_groups(value, turn.size); };
  const auto is_number = [&](SizeId end) { return sizes_.number(end).has_value(); };
  if (!lanes || !std::ranges::all_of(parts->ends, is_number) || !std::ranges::all_of(parts->values, is_there))
    return std::nullopt;
  return Turns{*lanes, std::move(*parts)};
}

/// All parts are computed, each lane takes its own.
std::string CpuKernel::by_turns(const Turns& turns) {
  const std::vector<ExprId>& values = turns.parts.values;
  sizes_.require_multiple(lane_->extent, turns.lanes);
  std::string text = lanes_text(values.back());
  for (size_t i = turns.parts.ends.size(); i-- > 0;)
    text = fmt::format("select(turn_of_lanes<{}>() < {}.0f, {}, {})", turns.lanes,
                       sizes_.kernel_text(turns.parts.ends[i]), lanes_text(values[i]), text);
  return text;
}

/// Loads pieces that are groups with one element each, these neighbours or every other element. nullopt: they are not.
std::optional<std::string> CpuKernel::load_for_groups(const Expr& load, const Access& from, const Piece& piece) {
  const std::optional<int64_t> lanes = piece.moves ? std::nullopt : group_of(piece.length);
  if (!lanes) return std::nullopt;
  const auto part = rest_of_lane(from);
  if (!part) return std::nullopt;
  const Index node = indices_.at(part->first);
  const std::optional<int64_t> step = sizes_.number(part->second);  // from one group to the next
  if (node.kind != Index::Kind::Divide || node.a != indices_.variable(lane_->variable) || (step != 1 && step != 2))
    return std::nullopt;
  sizes_.require_multiple(lane_->extent, *lanes);
  return fmt::format("repeat_lanes<{0}>({1}({2} + {3}, lanes / {0}))", *lanes, step == 2 ? "load_every_other" : "load",
                     name_of(load.tensor), offset_text(from, "i"));
}

}  // namespace passnet::author
