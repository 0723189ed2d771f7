#include <fmt/format.h>

#include <algorithm>

#include "author/text/cpu_kernel.h"
#include "author/text/operations.h"

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

/// Steps of a fold from which it pays to take several blocks of lanes side by side.
constexpr int64_t kLeastSteps = 8;

void collect_reductions(const ExprTable& exprs, ExprId id, std::set<ExprId>& met, std::vector<ExprId>& found) {
  if (!met.insert(id).second) return;
  if (exprs.at(id).kind == Kind::Reduce) found.push_back(id);
  exprs.for_each_part(id, [&](ExprId part) { collect_reductions(exprs, part, met, found); });
}

}  // namespace

/// Whether each lane has a column: all that is folded is folded for each item by itself, and whole vectors are read.
bool CpuKernel::folds_columns() {
  if (!part_.own.given.empty()) return false;
  std::set<ExprId> met, seen;
  std::vector<ExprId> reductions = part_.own.reductions;
  for (const ExprId root : part_.roots) collect_reductions(exprs_, root, met, reductions);
  const std::set<VariableId> items = variables_of(kernel_.items);
  const auto is_column = [&](ExprId id) {
    return is_vector(id) && std::ranges::includes(items, exprs_.free_variables(id));
  };
  const auto takes_long = [&](ExprId id) {
    int64_t steps = 1;
    for (const Loop& loop : loops_of(exprs_.at(id))) steps *= sizes_.largest(loop.extent);
    return steps >= kLeastSteps;
  };
  return std::ranges::any_of(reductions, takes_long) && std::ranges::all_of(reductions, is_column) &&
         std::ranges::all_of(part_.roots, [&](ExprId root) { return lies_in_strips(root, seen); });
}

/// Whether nothing of it has to be put together lane by lane.
bool CpuKernel::lies_in_strips(ExprId id, std::set<ExprId>& met) {
  if (!moves_with_lane(id) || !met.insert(id).second) return true;
  const Expr expr = exprs_.at(id);
  if (!is_vector(id) || is_by_lane(id)) return false;
  if (expr.kind == Kind::Load)
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
  std::vector<const Store*> outside;
  for (const Store* store : part_.stores) {
    if (!lies_in_row(*store)) outside.push_back(store);
  }
  for (const Stage& stage : stages_of(definitions_, part_))
    stage.reduction ? fold_columns(stage) : store_columns(stage.stores, kernel_.row);
  if (!outside.empty()) {
    if (part_.own.over_row) open("if (part == 0)");
    store_columns(outside, {});
    if (part_.own.over_row) close();
  }
  if (part_.own.reductions.empty()) return;
  open_blocks();
  for (const ExprId id : part_.own.reductions) store_share(id, names_[id]);
  close();
}

/// Each block has a sum of its own, "total1[b]".
void CpuKernel::fold_columns(const Stage& stage) {
  const ExprId id = *stage.reduction;
  const Expr expr = exprs_.at(id);
  const std::vector<Loop> loops = loops_of(expr);
  const bool in_blocks = adds_many(expr, loops);
  const std::string total = fresh("total"), zero = neutral(expr.fold, expr.compute);
  const std::string sum = in_blocks ? fresh("block") : total;
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
    line(fmt::format("{0}[b] = {1};", sum, combined(expr.fold, sum + "[b]", part, true)));
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

/// loops: over the row; none: what lies outside of it.
void CpuKernel::store_columns(const std::vector<const Store*>& stores, const std::vector<Loop>& loops) {
  const Scoped scope(*this);
  open_loops(loops);
  std::set<ExprId> met;
  for (const Store* store : stores) hoist_in(store->value, {lane_->variable}, met);
  open_blocks();
  store_all(stores);
  close();
  close_all(loops);
}

}  // namespace passnet::author
