#include "author/text/neighbours.h"

#include <algorithm>

namespace passnet::author {

using IndexKind = Index::Kind;

std::optional<std::vector<SizeId>> Neighbours::steps(const Access& access) {
  SizeTable& sizes = definitions_.sizes();
  if (jumps(sizes, access, lane_)) return std::nullopt;
  steps_.clear();
  const auto lane = access.steps.find(lane_);
  int moving = lane != access.steps.end() && sizes.is_one(lane->second) ? 1 : 0;
  for (const auto& [variable, step] : access.steps) {
    // Others were merged into these.
    if (loops_.contains(variable) && variable != lane_ && !sizes.is_constant(step, 0)) steps_.push_back(step);
  }
  bool in_pieces = false;
  for (const auto& [index, factor] : access.rest) {
    const std::optional<Move> move = move_of(index);
    if (!move || (*move == Move::ByOne && !sizes.is_one(factor))) return std::nullopt;
    if (*move == Move::ByOne) ++moving;
    const IndexKind kind = definitions_.exprs().indices().at(index).kind;
    if (!sizes.is_one(factor)) {
      steps_.push_back(factor);
    } else if (!aligned(index)) {
      return std::nullopt;
    } else if (kind != IndexKind::Constant && kind != IndexKind::Size && kind != IndexKind::Scale) {
      in_pieces = true;
    }
  }
  if (moving != 1 || (in_pieces && !are_long(steps_))) return std::nullopt;
  return steps_;
}

bool Neighbours::stays(const Access& access) {
  steps_.clear();
  return !access.steps.contains(lane_) &&
         std::ranges::all_of(access.rest, [&](const auto& part) { return move_of(part.first) == Move::None; }) &&
         are_long(steps_);
}

/// In all graphs.
bool Neighbours::are_long(const std::vector<SizeId>& steps) const {
  return std::ranges::all_of(steps, [&](SizeId step) {
    return std::ranges::all_of(definitions_.sizes().values(step),
                               [](int64_t length) { return length % kLeastPack == 0; });
  });
}

bool Neighbours::is_still(IndexId id) const {
  std::set<VariableId> variables;
  definitions_.exprs().variables_in(id, variables);
  return !variables.contains(lane_);
}

/// None: in another way. What it takes a quotient or remainder of must begin at a multiple of the run's length, and so must
/// each of the pieces that they are of: then a run lies in one of them.
std::optional<Neighbours::Move> Neighbours::move_of(IndexId id) {
  if (is_still(id)) return Move::None;
  const Index node = definitions_.exprs().indices().at(id);
  switch (node.kind) {
    case IndexKind::Variable: return Move::ByOne;
    case IndexKind::Add: {
      const std::optional<Move> a = move_of(node.a), b = move_of(node.b);
      if (!a || !b || (*a == Move::ByOne && *b == Move::ByOne)) return std::nullopt;
      return *a == Move::ByOne || *b == Move::ByOne ? Move::ByOne : Move::None;
    }
    case IndexKind::Subtract: {
      const std::optional<Move> a = move_of(node.a);
      return is_still(node.b) ? a : std::nullopt;
    }
    case IndexKind::Scale: {
      const std::optional<Move> a = move_of(node.a);
      return a == Move::None ? a : std::nullopt;
    }
    case IndexKind::Divide:
    case IndexKind::Remainder: {
      const std::optional<Move> a = move_of(node.a);
      if (a != Move::ByOne) return a;
      if (!aligned(node.a)) return std::nullopt;
      steps_.push_back(node.size);
      return node.kind == IndexKind::Divide ? Move::None : Move::ByOne;
    }
    default: return std::nullopt;
  }
}

/// Tells whether it is a multiple of the run's length where a run begins, given that what is added to the steps is.
bool Neighbours::aligned(IndexId id) {
  const Index node = definitions_.exprs().indices().at(id);
  SizeTable& sizes = definitions_.sizes();
  switch (node.kind) {
    case IndexKind::Constant:
      if (node.value != 0) steps_.push_back(sizes.literal(node.value));
      return true;
    case IndexKind::Size:
    case IndexKind::Scale: steps_.push_back(node.size); return true;
    case IndexKind::Variable: return node.variable == lane_;
    case IndexKind::Add:
    case IndexKind::Subtract: return aligned(node.a) && aligned(node.b);
    case IndexKind::Remainder: steps_.push_back(node.size); return aligned(node.a);
    default: return false;
  }
}

}  // namespace passnet::author
