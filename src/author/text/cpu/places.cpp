// Places in a row that are computed, such as those between which a picture is scaled: where they are the same for all items
// they are computed once, and elements are gathered from there.
#include <fmt/format.h>

#include <algorithm>

#include "author/text/cpu/kernel.h"

namespace passnet::author {

/// The one index that moves with the lane, where it is computed and its steps are elements. nullopt: there is none.
std::optional<IndexId> CpuKernel::place_of_lane(const Access& access) {
  const auto part = access.steps.contains(lane_->variable) ? std::nullopt : rest_of_lane(access);
  if (!part || !sizes_.is_one(part->second) || indices_.at(part->first).kind != Index::Kind::Element)
    return std::nullopt;
  return part->first;
}

/// Tells whether it follows the lane alone, and reads nothing: it may be computed where nobody would look at it.
bool CpuKernel::is_place_of_lane(ExprId id) {
  return exprs_.free_variables(id) == std::set<VariableId>{lane_->variable} && !exprs_.has_load(id) &&
         !exprs_.has_reduction(id) && !exprs_.has_running_sum(id);
}

/// Before the loop over items. outer: as pays_to_share().
void CpuKernel::keep_places(const std::vector<Loop>& outer) {
  if (!pays_to_share(outer)) return;
  std::vector<ExprId> places;
  for (const ExprId load : loads_in(exprs_, kernel_)) {
    const Expr& expr = exprs_.at(load);
    const std::optional<IndexId> place = place_of_lane(access_in(definitions_, expr.tensor, expr.places));
    if (!place) continue;
    const ExprId computed = indices_.at(*place).element;
    if (is_place_of_lane(computed) && std::ranges::find(places, computed) == places.end()) places.push_back(computed);
  }
  if (places.empty()) return;
  line("// Places that are the same for all items.");
  for (const ExprId id : places) {
    places_[id] = fresh("places");
    line(fmt::format("int32_t {}[{} + kLanes - 1];", places_[id], extent_text(*lane_)));
  }
  require_room({*lane_}, kMostInArray);
  const Scoped scope(*this);
  scalar([&] {
    open(fmt::format("for (int64_t i = 0; i < {}; ++i)", extent_text(*lane_)));
    for (const ExprId id : places) line(fmt::format("{}[i] = int32_t({});", places_[id], value(id)));
    close();
    for (const ExprId id : places) line(fmt::format("repeat_last({}, {});", places_[id], extent_text(*lane_)));
  });
  after_stage();
  elsewhere_.insert(places.begin(), places.end());
}

std::optional<CpuKernel::Gathered> CpuKernel::gathered(const Expr& load) {
  if (places_.empty() || load.kind != Expr::Kind::Load) return std::nullopt;
  Access row = access_in(definitions_, load.tensor, load.places);
  const std::optional<IndexId> place = place_of_lane(row);
  const auto known = place ? places_.find(indices_.at(*place).element) : places_.end();
  const auto dimension = std::ranges::find(load.places, place.value_or(0));
  if (known == places_.end() || dimension == load.places.end()) return std::nullopt;
  std::erase_if(row.rest, [&](const auto& one) { return one.first == *place; });
  const auto length = static_cast<size_t>(dimension - load.places.begin());
  return Gathered{known->second, std::move(row), definitions_.tensors()[load.tensor].shape[length]};
}

}  // namespace passnet::author
