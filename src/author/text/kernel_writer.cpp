#include "author/text/kernel_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <utility>

#include "author/text/operations.h"

namespace passnet::author {

using Kind = Expr::Kind;

KernelWriter::KernelWriter(Definitions& definitions, const KernelPart& part, const KernelFacts& facts)
    : ValueWriter(definitions, part, facts) {
  for (const Store& store : kernel_.stores) count_uses(store.value);
}

void KernelWriter::count_uses(ExprId id) {
  if (uses_[id]++ > 0) return;
  exprs_.for_each_part(id, [&](ExprId part) { count_uses(part); });
}

std::string KernelWriter::run() {
  kernel_.lanes == Lanes::Row ? write_rows() : write_items();
  return constants() + out_;
}

// ---- items

void KernelWriter::item_body() {
  if (sums_go_on()) {
    go_through_row(stages_of(definitions_, part_)[0]);
    return;
  }
  fold_given();
  const std::vector<ExprId>& reductions = part_.own.reductions;
  if (!reductions.empty()) {
    const auto store_too = [&] { store_all(part_.stores); };
    for (const ExprId id : reductions) store_share(id, id == reductions[0] ? reduction(id, store_too) : reduction(id));
    return;
  }
  std::vector<const Store*> in_row;
  for (const Store* store : part_.stores) {
    if (lies_in_row(*store)) in_row.push_back(store);
  }
  if (const std::optional<ExprId> fold = fold_that_stores(in_row)) {
    names_[*fold] = reduction(*fold, [&] { store_all(in_row); });
    in_row.clear();
  }
  store_outside_of_row();
  if (in_row.empty()) return;
  // Those that do not depend on the row, before its loop.
  std::set<ExprId> met;
  std::vector<ExprId> values;
  for (const Store* store : in_row) {
    write_reductions_in(store->value, met);
    values.push_back(store->value);
  }
  const Scoped scope(*this);
  open_steps(kernel_.row, values);
  store_all(in_row);
  close_steps(kernel_.row);
}

void KernelWriter::go_through_row(const Stage& stage) {
  const std::string total = declare_total(stage);
  const std::vector<std::string> sums = declare_sums("sum");
  hoist(variables_of(kernel_.row));
  {
    const Scoped scope(*this);
    open_steps(kernel_.row, values_of_row(stage));
    for (size_t i = 0; i < sums.size(); ++i) {
      const Expr expr = exprs_.at(kernel_.running[i]);
      line(fmt::format("{} = {};", sums[i], combined(Fold::Sum, expr.compute, sums[i], value(expr.parts[0]), false)));
      names_[kernel_.running[i]] = sums[i];
    }
    fold_one_more(stage, total);
    store_all(stage.stores);
    close_steps(kernel_.row);
  }
  if (stage.reduction) names_[*stage.reduction] = total;
  store_outside_of_row();
}

std::vector<std::string> KernelWriter::declare_sums(const std::string& stem) {
  std::vector<std::string> sums;
  for (const ExprId id : kernel_.running) {
    sums.push_back(fresh(stem));
    line(fmt::format("{} {} = 0;", type_of(id), sums.back()));
  }
  return sums;
}

std::vector<ExprId> KernelWriter::values_of_row(const Stage& stage) const {
  std::vector<ExprId> values = stage.elements;
  for (const ExprId id : kernel_.running) values.push_back(exprs_.at(id).parts[0]);
  return values;
}

std::string KernelWriter::declare_total(const Stage& stage) {
  if (!stage.reduction) return {};
  const Expr& expr = exprs_.at(*stage.reduction);
  std::string total = name_for(*stage.reduction);
  line(fmt::format("{} {} = {};", type_of(*stage.reduction), total, neutral(expr.fold, expr.compute)));
  return total;
}

void KernelWriter::fold_one_more(const Stage& stage, const std::string& total) {
  if (!stage.reduction) return;
  const Expr expr = exprs_.at(*stage.reduction);
  line(fmt::format("{} = {};", total, folded_with(expr, total, value(expr.parts[0]))));
}

std::string KernelWriter::folded_with(const Expr& reduction, const std::string& total, const std::string& x) {
  return combined(reduction.fold, reduction.compute, total, x, false);
}

/// The reduction over the row in whose loop all of these are stored.
std::optional<ExprId> KernelWriter::fold_that_stores(const std::vector<const Store*>& in_row) {
  if (in_row.empty() || overwrites()) return std::nullopt;
  for (const Stage& stage : stages_of(definitions_, part_)) {
    if (stage.reduction && stage.stores == in_row && !exprs_.has_reduction(exprs_.at(*stage.reduction).parts[0]))
      return stage.reduction;
  }
  return std::nullopt;
}

void KernelWriter::write_reductions_in(ExprId id, std::set<ExprId>& met) {
  if (!met.insert(id).second) return;
  exprs_.for_each_part(id, [&](ExprId part) { write_reductions_in(part, met); });
  if (exprs_.at(id).kind == Kind::Reduce && !moves_with_row(exprs_, kernel_, id)) value(id);
}

bool KernelWriter::overwrites() const {
  return std::ranges::any_of(
      part_.stores, [&](const Store* store) { return definitions_.tensors()[store->tensor].overwrites.has_value(); });
}

bool KernelWriter::all_lie_in_row() {
  return std::ranges::all_of(part_.stores, [&](const Store* store) { return lies_in_row(*store); });
}

void KernelWriter::store_outside_of_row() {
  if (all_lie_in_row()) return;
  std::string first = is_first();
  std::set<ExprId> met;
  for (const Store* store : part_.stores) {
    if (!first.empty()) write_reductions_in(store->value, met);  // which takes all of them
  }
  if (part_.own.over_row) first = first.empty() ? "part == 0" : "part == 0 && " + first;
  const Scoped scope(*this);
  if (!first.empty()) open(fmt::format("if ({})", first));
  for (const Store* store : part_.stores) {
    if (!lies_in_row(*store)) this->store(*store);
  }
  if (!first.empty()) close();
}

// ---- stores

void KernelWriter::store_all(const std::vector<const Store*>& stores) {
  for (const Store* store : stores) this->store(*store);
}

void KernelWriter::store(const Store& store) {
  ExprId id = store.value;
  // Storing rounds.
  if (exprs_.at(id).kind == Kind::Round && exprs_.at(id).rounds_on == RoundsOn::Both &&
      exprs_.at(id).element == definitions_.tensors()[store.tensor].element && uses(id) <= 1 && !names_.contains(id))
    id = exprs_.at(id).parts[0];
  std::string text = value(id);
  store_text(store, access_to(store), id, std::move(text));
}

void KernelWriter::store_text(const Store& store, const Access& to, ExprId value, std::string text) {
  const Compute from = exprs_.at(value).compute;
  const Element& type = element(store.tensor);
  if (from == Compute::Float && type.kernel != "float") text = fmt::format("from_float<{}>({})", type.kernel, text);
  if (from == Compute::Int && type.kernel != "int64_t") text = fmt::format("{}({})", type.kernel, text);
  line(fmt::format("{}[{}] = {};", name_of(store.tensor), offset_text(to, lane_name()), text));
}

std::string KernelWriter::along_lane(TensorId tensor, const Access& from, const std::string& start) {
  if (!from.irregular.contains(lane_->variable))
    return fmt::format("{} + {}, {}", name_of(tensor), offset_text(from, start),
                       sizes_.kernel_text(from.steps.at(lane_->variable)));
  const std::string step = fresh("lane_step");
  const std::string lane = std::exchange(variables_[lane_->variable], fmt::format("({} + {})", start, step));
  const std::string offset = offset_text(from, lane_name());
  variables_[lane_->variable] = lane;
  return fmt::format("[=](int64_t {}) {{ return {} + {}; }}", step, name_of(tensor), offset);
}

std::string KernelWriter::tiles_along(const Loop& loop, const std::string& side) const {
  return fmt::format("ceil_div(int64_t({}), int64_t({}))", extent_text(loop), side);
}

void KernelWriter::enter_row(const std::vector<Loop>& loops) {
  lane_ = loops.back();
  for (const Loop& one : loops) {
    if (one.variable != lane_->variable && !variables_.contains(one.variable)) variables_[one.variable] = fresh("k");
  }
  variables_[lane_->variable] = "i";
}

// ---- what comes before a loop

void KernelWriter::hoist(std::set<VariableId> variables) {
  std::set<ExprId> met = elsewhere_;
  // Reductions of a split row itself stand in loops that are not written yet.
  for (const ExprId reduction : part_.own.reductions)
    variables.insert(exprs_.at(reduction).variables.begin(), exprs_.at(reduction).variables.end());
  for (const ExprId root : part_.roots) hoist_in(root, variables, met);
}

void KernelWriter::hoist_loads(const std::set<VariableId>& variables) {
  for (const ExprId load : loads_of(part_.roots, false)) {
    if (!moves_with(load, variables) && !exprs_.has_reduction(load)) value(load);
  }
}

void KernelWriter::hoist_in(ExprId id, const std::set<VariableId>& variables, std::set<ExprId>& met) {
  if (!met.insert(id).second) return;
  const Expr& expr = exprs_.at(id);
  if (expr.kind == Kind::Reduce) return;  // its elements are written where it is computed
  if (!moves_with(id, variables) && !exprs_.has_reduction(id)) {
    value(id);
    return;
  }
  if (expr.kind == Kind::Guard) {
    hoist_in(expr.parts[0], variables, met);  // the others are looked at where it holds
    return;
  }
  exprs_.for_each_part(id, [&](ExprId part) { hoist_in(part, variables, met); });
}

void KernelWriter::write_what_is_known() {
  std::set<ExprId> met;
  for (const ExprId root : part_.roots) write_known_in(root, met);
}

bool KernelWriter::is_known(ExprId id) const {
  if (exprs_.at(id).kind == Kind::Reduce) return names_.contains(id);
  bool known = true;
  exprs_.for_each_part(id, [&](ExprId part) { known = known && is_known(part); });
  return known;
}

void KernelWriter::write_known_in(ExprId id, std::set<ExprId>& met) {
  if (!met.insert(id).second) return;
  if (!moves_with_row(exprs_, kernel_, id) && exprs_.has_reduction(id) && is_known(id)) {
    value(id);
    return;
  }
  exprs_.for_each_part(id, [&](ExprId part) { write_known_in(part, met); });
}

// ---- elements that are kept

void KernelWriter::choose_kept(const std::vector<Stage>& stages, bool loads) {
  for (const ExprId id : worth_keeping(definitions_, kernel_, stages, loads))
    kept_[id] = {array_name(id, "kept"), false};
}

std::set<ExprId> KernelWriter::kept_ids() const {
  std::set<ExprId> ids;
  for (const auto& [id, kept] : kept_) ids.insert(id);
  return ids;
}

std::optional<std::string> KernelWriter::kept_text(ExprId id) {
  const auto kept = keeps_ ? kept_.find(id) : kept_.end();
  if (kept == kept_.end() || !kept->second.is_there) return std::nullopt;
  return kept_load(kept->second);
}

void KernelWriter::keep(ExprId id, const std::string& name) {
  const auto kept = keeps_ && guards_ == 0 ? kept_.find(id) : kept_.end();
  if (kept == kept_.end()) return;
  line(kept_store(kept->second, name));
  written_.push_back(id);
}

void KernelWriter::after_stage() {
  for (const ExprId id : written_) kept_[id].is_there = true;
  written_.clear();
}

// ---- shared rows

void KernelWriter::open_share() {
  const Loop& loop = part_.split->loops[0];
  const std::string length = extent_text(loop);
  std::string share = fmt::format("ceil_div(int64_t({}), int64_t(PARTS))", length);
  // Shares of neighbours begin where vectors do, and no two write one cache line.
  if (part_.split->loops.size() == 1 && kernel_.lanes == Lanes::Row)
    share = fmt::format("ceil_div({}, int64_t(64)) * 64", share);
  line(fmt::format("constexpr int64_t share = {};", share));
  line(fmt::format("const int64_t begin = part * share < {0} ? part * share : {0};", length));
  line(fmt::format("const int64_t end = begin + share < {0} ? begin + share : {0};", length));
}

/// Returns the place of a partial result of the part of that name: those of neighbouring items lie side by side.
std::string KernelWriter::share_place(const std::string& part) {
  return fmt::format("{} * {} + {}", part, item_count(), number_);
}

void KernelWriter::store_share(ExprId id, std::string total) {
  const std::string name = share_name(definitions_, exprs_.at(id).tensor);
  if (exprs_.at(id).compute == Compute::Bool) total = fmt::format("({} ? 1.0f : 0.0f)", total);
  const std::string place = share_place("part"), first = is_first();
  const std::string text = is_vector(id) ? fmt::format("store({} + {}, {}, lanes);", name, place, total)
                                         : fmt::format("{}[{}] = {};", name, place, total);
  line(first.empty() ? text : fmt::format("if ({}) {}", first, text));
}

void KernelWriter::fold_given() {
  for (const ExprId id : part_.own.given) {
    const Expr expr = exprs_.at(id);
    const std::string total = name_for(id), name = share_name(definitions_, expr.tensor);
    line(fmt::format("{} {} = {};", type_of(id), total, neutral(expr.fold, expr.compute)));
    const std::string k = fresh("k"), one = fresh(total + "_part");
    open_parts(k);
    std::string part = is_vector(id) ? fmt::format("load({} + {}, lanes)", name, share_place(k))
                                     : fmt::format("{}[{}]", name, share_place(k));
    if (expr.compute == Compute::Bool) part = fmt::format("({} != 0.0f)", part);
    line(fmt::format("const {} {} = {};", type_of(id), one, part));
    line(fmt::format("{} = {};", total, combined(expr.fold, expr.compute, total, one, is_vector(id))));
    close();
    fold_over_threads(expr, total);
    names_[id] = total;
  }
}

void KernelWriter::open_parts(const std::string& part) {
  open(fmt::format("for (int64_t {0} = 0; {0} < PARTS; ++{0})", part));
}

}  // namespace passnet::author
