#include "author/fuse/split.h"

#include <algorithm>
#include <map>
#include <set>

namespace passnet::author {

namespace {

using Kind = Expr::Kind;

class Splitter {
 public:
  Splitter(Definitions& definitions, const FusedKernel& kernel)
      : definitions_(definitions), exprs_(definitions.exprs()), kernel_(kernel) {}

  std::optional<SplitRow> run() {
    std::set<ExprId> met_always, met_guarded;
    for (const Store& store : kernel_.stores) {
      if (!collect(store.value, false, met_always, met_guarded)) return std::nullopt;
    }
    if (reductions_.empty() || !go_over_one_row() || !kernel_.running.empty()) return std::nullopt;
    SplitRow split;
    split.loops = loops();
    split.length = loop_steps(definitions_.sizes(), split.loops);
    std::vector<bool> is_stored(kernel_.stores.size(), false);
    int levels = 0;
    for (const ExprId reduction : reductions_) levels = std::max(levels, level_of(reduction));
    for (int level = 1; level <= levels; ++level) {
      SplitKernel one;
      for (const ExprId reduction : reductions_) {
        if (levels_[reduction] == level) one.reductions.push_back(reduction);
      }
      for (size_t i = 0; level == 1 && i < kernel_.stores.size(); ++i) {
        // Stores results that are at hand there already. One that overwrites an input has to wait until nobody reads it
        // any more.
        if (exprs_.has_reduction(kernel_.stores[i].value) || !lies_in_row(kernel_.stores[i]) ||
            definitions_.tensors()[kernel_.stores[i].tensor].overwrites)
          continue;
        one.stores.push_back(i);
        is_stored[i] = true;
      }
      std::set<ExprId> met;
      for (const ExprId reduction : one.reductions) collect_given(exprs_.at(reduction).parts[0], met, one.given);
      split.kernels.push_back(std::move(one));
    }
    SplitKernel last;
    last.over_row = false;
    std::set<ExprId> met;
    for (size_t i = 0; i < kernel_.stores.size(); ++i) {
      if (is_stored[i]) continue;
      last.stores.push_back(i);
      last.over_row = last.over_row || lies_in_row(kernel_.stores[i]);
      collect_given(kernel_.stores[i].value, met, last.given);
    }
    if (!last.stores.empty()) split.kernels.push_back(std::move(last));
    return split;
  }

 private:
  // Returns: whether none of them is looked at under a condition alone, which would be computed outside of it.
  bool collect(ExprId id, bool guarded, std::set<ExprId>& met_always, std::set<ExprId>& met_guarded) {
    if (!(guarded ? met_guarded : met_always).insert(id).second) return true;
    const Expr& expr = exprs_.at(id);
    if (expr.kind == Kind::Reduce) {
      if (guarded) return false;
      reductions_.push_back(id);
    }
    const bool guards = expr.kind == Kind::Guard;
    const ExprId condition = guards ? expr.parts[0] : 0;
    bool fine = true;
    exprs_.for_each_part(id, [&](ExprId part) {
      fine = fine && collect(part, guarded || (guards && part != condition), met_always, met_guarded);
    });
    return fine;
  }

  bool go_over_one_row() const {
    const auto set_of = [](const std::vector<VariableId>& all) { return std::set<VariableId>(all.begin(), all.end()); };
    const std::vector<VariableId>& first = exprs_.at(reductions_[0]).variables;
    return std::ranges::all_of(reductions_, [&](ExprId id) {
      const Expr& expr = exprs_.at(id);
      const bool is_float = expr.compute == Compute::Float && expr.fold != Fold::Product;
      if (!is_float && expr.compute != Compute::Bool) return false;
      return kernel_.row.empty() ? expr.variables == first : set_of(expr.variables) == set_of(kernel_.row_variables);
    });
  }

  std::vector<Loop> loops() const {
    if (!kernel_.row.empty()) return kernel_.row;
    std::vector<Loop> loops;
    for (const VariableId variable : exprs_.at(reductions_[0]).variables)
      loops.push_back({variable, exprs_.indices().extent(variable)});
    return loops;
  }

  bool lies_in_row(const Store& store) const {
    std::set<VariableId> variables;
    for (const IndexId place : store.place) exprs_.indices().variables_in(place, variables);
    return std::ranges::any_of(kernel_.row_variables, [&](VariableId one) { return variables.contains(one); });
  }

  void collect_given(ExprId id, std::set<ExprId>& met, std::vector<ExprId>& given) {
    if (!met.insert(id).second) return;
    if (exprs_.at(id).kind == Kind::Reduce) {
      given.push_back(id);
      return;
    }
    exprs_.for_each_part(id, [&](ExprId part) { collect_given(part, met, given); });
  }

  // By reduction: how many, one taking the next, it is the end of.
  int level_of(ExprId reduction) {
    if (const auto known = levels_.find(reduction); known != levels_.end()) return known->second;
    std::set<ExprId> met;
    std::vector<ExprId> given;
    collect_given(exprs_.at(reduction).parts[0], met, given);
    int level = 1;
    for (const ExprId one : given) level = std::max(level, level_of(one) + 1);
    return levels_[reduction] = level;
  }

  Definitions& definitions_;
  ExprTable& exprs_;
  const FusedKernel& kernel_;
  std::vector<ExprId> reductions_;
  std::map<ExprId, int> levels_;
};

}  // namespace

std::optional<SplitRow> split_of(Definitions& definitions, const FusedKernel& kernel) {
  return Splitter(definitions, kernel).run();
}

}  // namespace passnet::author
