#include <fmt/format.h>

#include <algorithm>

#include "author/text/cpu/kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

/// Steps of a fold from which it pays to take several blocks of lanes side by side.
constexpr int64_t kLeastSteps = 8;

}  // namespace

/// Tells whether each lane has a column: all that is folded is folded for each item by itself, and whole vectors are
/// read.
bool CpuKernel::folds_columns() {
  if (!part_.own.given.empty()) return false;
  std::vector<ExprId> reductions = reductions_in(exprs_, part_.roots);
  reductions.insert(reductions.end(), part_.own.reductions.begin(), part_.own.reductions.end());
  const std::set<VariableId> items = variables_of(kernel_.items);
  const auto is_column = [&](ExprId id) {
    return is_vector(id) && std::ranges::includes(items, exprs_.free_variables(id));
  };
  const auto pays = [&](ExprId id) { return most_steps(loops_of(exprs_.at(id))) >= kLeastSteps; };
  std::set<ExprId> met;
  return std::ranges::any_of(reductions, pays) && std::ranges::all_of(reductions, is_column) &&
         std::ranges::all_of(part_.roots, [&](ExprId root) { return lies_in_strips(root, met); });
}

/// Tells whether nothing of it has to be put together lane by lane.
bool CpuKernel::lies_in_strips(ExprId id, std::set<ExprId>& met) {
  if (!moves_with_lane(id) || !met.insert(id).second) return true;
  const Expr expr = exprs_.at(id);
  if (!is_vector(id) || is_by_lane(id)) return false;
  if (expr.kind == Expr::Kind::Load)
    return moves_by_one(sizes_, access_in(definitions_, expr.tensor, expr.places), lane_->variable);
  bool all = true;
  exprs_.for_each_part(id, [&](ExprId part) { all = all && lies_in_strips(part, met); });
  return all;
}

/// The blocks of a strip, up to close().
void CpuKernel::open_blocks() {
  open("for (int b = 0; b < blocks; ++b)");
  line(fmt::format("const int64_t {} = strip + b * kLanes;", lane_name()));
}

void CpuKernel::strip_body() {
  for (const Stage& stage : stages_of(definitions_, part_))
    stage.reduction ? fold_columns(stage) : store_columns(stage.stores);
  if (part_.own.reductions.empty() && all_lie_in_row()) return;
  open_blocks();
  store_outside_of_row();
  for (const ExprId id : part_.own.reductions) store_share(id, names_[id]);
  close();
}

/// Each block has a sum of its own, "tmp_2[b]".
void CpuKernel::fold_columns(const Stage& stage) {
  const ExprId id = *stage.reduction;
  const Expr expr = exprs_.at(id);
  const std::vector<Loop> loops = loops_of(expr);
  const bool in_blocks = adds_many(expr, loops);
  const std::string total = name_for(id), zero = neutral(expr.fold, expr.compute);
  const std::string sum = in_blocks ? fresh(total + "_block") : total;
  const auto begin_with_zero = [&](const std::string& name) {
    line(fmt::format("vec {}[blocks];", name));
    line(fmt::format("for (vec& one : {}) one = {};", name, zero));
  };
  begin_with_zero(total);
  if (in_blocks) begin_with_zero(sum);
  std::set<VariableId> inside = variables_of(loops);
  inside.insert(lane_->variable);
  std::set<ExprId> met;
  for (const ExprId element : stage.elements) hoist_in(element, inside, met);
  {
    const OtherLoops other(*this);
    const Scoped scope(*this);
    for (const Loop& loop : loops) variables_[loop.variable] = fresh("k");
    open_loops(loops);
    met.clear();
    for (const ExprId element : stage.elements) hoist_in(element, {lane_->variable}, met);
    open_blocks();
    const std::string part = value(expr.parts[0]);
    line(fmt::format("{0}[b] = {1};", sum, combined(expr.fold, expr.compute, sum + "[b]", part, true)));
    store_all(stage.stores);
    close();
    if (in_blocks) {
      open_end_of_block(loops);
      open("for (int b = 0; b < blocks; ++b)");
      line(fmt::format("{0}[b] = {0}[b] + {1}[b];", total, sum));
      line(fmt::format("{}[b] = {};", sum, zero));
      close();
      close();
    }
    close_all(loops);
  }
  names_[id] = total + "[b]";
}

void CpuKernel::store_columns(const std::vector<const Store*>& stores) {
  const Scoped scope(*this);
  open_loops(kernel_.row);
  std::set<ExprId> met;
  for (const Store* store : stores) hoist_in(store->value, {lane_->variable}, met);
  open_blocks();
  store_all(stores);
  close();
  close_all(kernel_.row);
}

}  // namespace passnet::author
