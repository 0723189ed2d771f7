#include "author/text/stages.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <utility>

#include "author/text/operations.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// met: what was looked at already, as equal parts are one, or need not be.
bool loads(const ExprTable& exprs, ExprId id, TensorId tensor, std::set<ExprId>& met) {
  if (!met.insert(id).second) return false;
  if (exprs.at(id).kind == Kind::Load && exprs.at(id).tensor == tensor) return true;
  bool found = false;
  exprs.for_each_part(id, [&](ExprId part) { found = found || loads(exprs, part, tensor, met); });
  return found;
}

/// Collects the values that are computed in any case, not only under a condition.
void collect_always(const ExprTable& exprs, ExprId id, std::set<ExprId>& found) {
  if (!found.insert(id).second) return;
  if (exprs.at(id).kind == Kind::Guard) return collect_always(exprs, exprs.at(id).parts[0], found);
  exprs.for_each_part(id, [&](ExprId part) { collect_always(exprs, part, found); });
}

/// Tells whether it can be stored by that loop: it follows from no reduction, and what it overwrites is not looked at
/// later, as what is made of it was kept.
bool can_store_early(Definitions& definitions, const FusedKernel& kernel, const Store& store, size_t at,
                     const std::vector<Stage>& stages, const std::set<ExprId>& kept) {
  ExprTable& exprs = definitions.exprs();
  if (exprs.has_reduction(store.value)) return false;
  const std::optional<TensorId> overwrites = definitions.tensors()[store.tensor].overwrites;
  if (!overwrites) return true;
  std::set<ExprId> computed, there;
  for (const ExprId element : stages[at].elements) collect_always(exprs, element, computed);
  std::ranges::set_intersection(kept, computed, std::inserter(there, there.end()));
  const auto looks_at_it = [&](ExprId value, std::set<ExprId> met) { return loads(exprs, value, *overwrites, met); };
  for (size_t i = at + 1; i < stages.size(); ++i) {
    if (std::ranges::any_of(stages[i].elements, [&](ExprId one) { return looks_at_it(one, there); })) return false;
  }
  return std::ranges::none_of(kernel.stores, [&](const Store& other) {
    if (&other == &store || !lies_in_row(definitions, kernel, other)) return false;
    // Others that this loop stores come before it or behind it.
    return looks_at_it(other.value, exprs.has_reduction(other.value) ? there : std::set<ExprId>());
  });
}

std::vector<Stage> stages_of_folds(const ExprTable& exprs, const std::vector<ExprId>& reductions) {
  std::vector<Stage> stages;
  for (const ExprId reduction : reductions) stages.push_back({reduction, {exprs.at(reduction).parts[0]}, {}});
  return stages;
}

/// Running sums are there while the row is gone through: all that is folded and stored along it takes one loop.
Stage stage_of_running_sums(Definitions& definitions, const KernelPart& part) {
  const ExprTable& exprs = definitions.exprs();
  const std::vector<ExprId> reductions = reductions_in(exprs, part.roots);
  Stage stage;
  if (!reductions.empty()) stage = stages_of_folds(exprs, reductions)[0];
  for (const Store& store : part.kernel.stores) {
    if (!lies_in_row(definitions, part.kernel, store)) continue;
    stage.elements.push_back(store.value);
    stage.stores.push_back(&store);
  }
  return stage;
}

std::vector<Stage> stages_of_whole(Definitions& definitions, const KernelPart& part, const std::set<ExprId>& kept) {
  const ExprTable& exprs = definitions.exprs();
  const FusedKernel& kernel = part.kernel;
  if (!kernel.running.empty()) return {stage_of_running_sums(definitions, part)};
  std::vector<Stage> stages = stages_of_folds(exprs, reductions_in(exprs, part.roots));
  // Results that the first loop over the row has at hand are stored there, and need not be kept or computed again.
  const auto first = std::ranges::find_if(
      stages, [&](const Stage& stage) { return is_row(kernel, exprs.at(*stage.reduction).variables); });
  const size_t at = static_cast<size_t>(first - stages.begin());
  Stage last;
  for (const Store& store : kernel.stores) {
    if (!lies_in_row(definitions, kernel, store)) continue;
    const bool early = first != stages.end() && can_store_early(definitions, kernel, store, at, stages, kept);
    Stage& stage = early ? *first : last;
    stage.elements.push_back(store.value);
    stage.stores.push_back(&store);
  }
  if (!last.stores.empty()) stages.push_back(std::move(last));
  return stages;
}

/// Returns the stages of one of the kernels that a row was split into: what it folds itself, with what is stored on the
/// way, or stores alone.
std::vector<Stage> stages_of_share(Definitions& definitions, const KernelPart& part) {
  std::vector<Stage> stages = stages_of_folds(definitions.exprs(), part.own.reductions);
  if (stages.empty()) stages.emplace_back();
  for (const Store* store : part.stores) {
    if (!lies_in_row(definitions, part.kernel, *store)) continue;
    stages.front().elements.push_back(store->value);
    stages.front().stores.push_back(store);
  }
  if (!stages.front().reduction && stages.front().stores.empty()) stages.clear();
  return stages;
}

void collect_row_parts(ExprTable& exprs, const FusedKernel& kernel, ExprId id, std::set<ExprId>& parts) {
  if (!moves_with_row(exprs, kernel, id) || !parts.insert(id).second) return;
  if (exprs.at(id).kind == Kind::Reduce) return;
  exprs.for_each_part(id, [&](ExprId part) { collect_row_parts(exprs, kernel, part, parts); });
}

/// Tells whether it takes longer than it would to load its value.
bool is_dear(Definitions& definitions, const FusedKernel& kernel, ExprId id) {
  ExprTable& exprs = definitions.exprs();
  const Expr& expr = exprs.at(id);
  if (expr.kind == Kind::Round && definitions.elements()[expr.element].is_exact())
    return is_dear(definitions, kernel, expr.parts[0]);
  if (expr.kind == Kind::Round || expr.kind == Kind::Guard) return true;
  if (expr.kind != Kind::Apply) return false;
  size_t on_row = 0;
  for (const ExprId part : expr.parts) on_row += moves_with_row(exprs, kernel, part) ? 1 : 0;
  return on_row > 1 || expr.formula.divides_or_calls();
}

}  // namespace

std::vector<Stage> stages_of(Definitions& definitions, const KernelPart& part, const std::set<ExprId>& kept) {
  return part.is_split() ? stages_of_share(definitions, part) : stages_of_whole(definitions, part, kept);
}

std::set<ExprId> worth_keeping(Definitions& definitions, const FusedKernel& kernel, const std::vector<Stage>& stages,
                               bool loads) {
  ExprTable& exprs = definitions.exprs();
  std::map<ExprId, int> by_stage;
  for (const Stage& stage : stages) {
    std::set<ExprId> parts;
    for (const ExprId element : stage.elements) collect_row_parts(exprs, kernel, element, parts);
    for (const ExprId part : parts) ++by_stage[part];
  }
  std::set<ExprId> shared, below;
  for (const auto& [id, count] : by_stage) {
    const Expr& expr = exprs.at(id);
    if (count < 2 || expr.kind == Kind::Reduce || expr.compute != Compute::Float) continue;
    if (is_dear(definitions, kernel, id) || (expr.kind == Kind::Load && loads)) shared.insert(id);
  }
  for (const ExprId id : shared) {
    std::set<ExprId> parts;
    exprs.for_each_part(id, [&](ExprId part) { collect_row_parts(exprs, kernel, part, parts); });
    // Parts of a value that as many stages share need not be kept themselves.
    for (const ExprId part : parts) {
      if (by_stage[part] <= by_stage[id]) below.insert(part);
    }
  }
  std::erase_if(shared, [&](ExprId id) { return below.contains(id); });
  return shared;
}

}  // namespace passnet::author
