#include "author/fuse/band.h"

#include <algorithm>
#include <set>
#include <utility>

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

// Steps of a window whose loops are unrolled: each row of a band is another window's row as well.
constexpr int64_t kMostSteps = 128;

/// One index of a place, and the step between neighbours' windows: known, or told by the first index that has both.
InBand in_band(ExprTable& exprs, VariableId of_band, VariableId of_window, std::optional<SizeId>& step, IndexId index) {
  const SizeId one = exprs.indices().sizes().one();
  const Access access = access_of(exprs, {index}, {one});
  if (access.irregular.contains(of_band) || access.irregular.contains(of_window)) return InBand::Own;
  const auto band = access.steps.find(of_band), window = access.steps.find(of_window);
  if (band == access.steps.end() && window == access.steps.end()) return InBand::Same;
  if (band == access.steps.end() || window == access.steps.end() || window->second != one) return InBand::Own;
  if (!step) step = band->second;
  return *step == band->second ? InBand::Shared : InBand::Own;
}

InBand in_band(ExprTable& exprs, VariableId of_band, VariableId of_window, std::optional<SizeId>& step, ExprId id,
               std::map<ExprId, InBand>& known) {
  if (const auto found = known.find(id); found != known.end()) return found->second;
  const Expr expr = exprs.at(id);
  InBand worst = InBand::Same;
  if (expr.kind == Kind::Reduce) {
    const std::set<VariableId>& free = exprs.free_variables(id);
    if (free.contains(of_band) || free.contains(of_window)) worst = InBand::Own;
  } else {
    for (const IndexId place : expr.places) worst = std::max(worst, in_band(exprs, of_band, of_window, step, place));
    exprs.for_each_part(
        id, [&](ExprId part) { worst = std::max(worst, in_band(exprs, of_band, of_window, step, part, known)); });
  }
  return known[id] = worst;
}

/// Tells whether something is loaded that goes by the row alone.
bool loads_shared(const ExprTable& exprs, const std::map<ExprId, InBand>& known) {
  return std::ranges::any_of(
      known, [&](const auto& one) { return one.second == InBand::Shared && exprs.at(one.first).kind == Kind::Load; });
}

std::optional<Window> window_of(ExprTable& exprs, VariableId of_band, ExprId reduction) {
  const Expr expr = exprs.at(reduction);
  const SizeTable& sizes = exprs.indices().sizes();
  int64_t steps = 1;
  for (const VariableId variable : expr.variables) steps *= sizes.largest(exprs.indices().extent(variable));
  if (steps > kMostSteps) return std::nullopt;
  for (const VariableId variable : expr.variables) {
    std::optional<SizeId> step;
    std::map<ExprId, InBand> parts;
    in_band(exprs, of_band, variable, step, expr.parts[0], parts);
    if (step && loads_shared(exprs, parts)) return Window{variable, *step, std::move(parts)};
  }
  return std::nullopt;
}

}  // namespace

std::optional<Band> band_of(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Items || !kernel.row.empty() || kernel.items.size() < 2) return std::nullopt;
  const auto down = kernel.items.end() - 2;
  Band band{*down, loop_steps(definitions.sizes(), {kernel.items.begin(), down}), kernel.items.back().extent, {}};
  for (const Store& store : kernel.stores) {
    if (definitions.tensors()[store.tensor].overwrites) return std::nullopt;
  }
  for (const ExprId reduction : outermost_reductions(definitions.exprs(), kernel)) {
    if (auto window = window_of(definitions.exprs(), band.down.variable, reduction))
      band.windows.emplace(reduction, std::move(*window));
  }
  return band.windows.empty() ? std::nullopt : std::optional(std::move(band));
}

}  // namespace passnet::author
