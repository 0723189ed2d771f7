#include "author/fuse/kernel.h"

#include <algorithm>
#include <functional>

namespace passnet::author {

bool is_row(const FusedKernel& kernel, const std::vector<VariableId>& variables) {
  return !kernel.row.empty() && std::set<VariableId>(variables.begin(), variables.end()) ==
                                    std::set<VariableId>(kernel.row_variables.begin(), kernel.row_variables.end());
}

namespace {

using Variables = std::set<VariableId>;

// Rows that lanes share out have an element for each of them at least.
constexpr int64_t kShortestRow = 16;
// Steps that take less than a store, a launch and a load.
constexpr int64_t kFewSteps = 4;

class Planner {
 public:
  Planner(Definitions& definitions, const std::vector<TensorId>& stored, const std::function<bool(TensorId)>& in_memory,
          bool repeat)
      : definitions_(definitions),
        exprs_(definitions.exprs()),
        indices_(exprs_.indices()),
        sizes_(definitions.sizes()),
        scope_(definitions.tensors(), definitions.elements(), exprs_,
               [&, in_memory](TensorId tensor) {
                 return std::ranges::find(stored, tensor) == stored.end() && in_memory(tensor);
               }),
        stored_(stored),
        repeat_(repeat) {}

  Planned run() {
    for (const TensorId tensor : stored_) store(tensor);
    for (const Store& store : kernel_.stores) collect_reductions(store.value, false);
    if (std::vector<TensorId> apart = apart_from_products(); !apart.empty()) return {std::nullopt, apart};
    // All loops of the results, and of these the ones that every reduction is repeated for.
    Variables all(loops_.begin(), loops_.end());
    Variables items = all;
    std::vector<TensorId> apart = apart_from_running_sums();
    if (!kernel_.running.empty() && apart.empty()) items.erase(along(kernel_.running[0]));
    std::set<TensorId> met;
    const bool repeats = repeat_ && can_repeat(all);
    for (const ExprId reduction : reductions_) {
      // A reduction that several places would repeat is stored for all of them.
      const TensorId folded = exprs_.at(reduction).tensor;
      if (!met.insert(folded).second && std::ranges::find(stored_, folded) == stored_.end()) apart.push_back(folded);
      const Variables& free = exprs_.free_variables(reduction);
      if (!std::ranges::includes(all, free)) {
        apart.push_back(exprs_.at(reduction).tensor);  // for each element of another reduction
        continue;
      }
      if (free == all || repeats) continue;
      if (items == all) {
        items = free;
      } else if (items != free) {
        apart.push_back(exprs_.at(reduction).tensor);
      }
    }
    if (items != all) {
      // For each element of the row, which another reduction goes over too.
      for (const ExprId reduction : reductions_) {
        if (exprs_.free_variables(reduction) != all) continue;
        // Reductions that it needs come first.
        std::vector<TensorId> needed;
        collect_folded(exprs_.at(reduction).parts[0], needed);
        if (needed.empty()) needed.push_back(exprs_.at(reduction).tensor);
        apart.insert(apart.end(), needed.begin(), needed.end());
      }
    }
    if (items != all) {
      // A row's reductions are computed for all elements of it, whatever chooses between them.
      for (const ExprId reduction : guarded_) apart.push_back(exprs_.at(reduction).tensor);
    }
    if (!apart.empty()) return {std::nullopt, apart};
    if (!fits_items(items)) return {std::nullopt, folded_tensors()};
    order_loops();
    for (const VariableId variable : loops_) {
      std::vector<Loop>& part = items.contains(variable) ? kernel_.items : kernel_.row;
      part.push_back({variable, indices_.extent(variable)});
    }
    choose_lanes();
    for (const Loop& loop : kernel_.row) kernel_.row_variables.push_back(loop.variable);
    merge(kernel_.items);
    merge(kernel_.row);
    return {std::move(kernel_), {}};
  }

 private:
  void store(TensorId id) {
    const Tensor& tensor = definitions_.tensors()[id];
    const std::vector<SizeId>& extents = tensor.loops.empty() ? tensor.shape : tensor.loops;
    const std::vector<VariableId> variables = scope_.variables(extents, {});
    std::vector<IndexId> place;
    for (const VariableId variable : variables) {
      place.push_back(indices_.variable(variable));
      if (!sizes_.is_one(indices_.extent(variable)) && std::ranges::find(loops_, variable) == loops_.end())
        loops_.push_back(variable);
    }
    if (!tensor.loops.empty()) place = indices_.reshape(place, tensor.loops, tensor.shape);
    kernel_.stores.push_back({id, scope_.definition(id, place), place});
  }

  // guarded: it is looked at where a condition holds alone.
  void collect_reductions(ExprId id, bool guarded) {
    if (guarded && exprs_.at(id).kind == Expr::Kind::Reduce) guarded_.insert(id);
    if (!(guarded ? met_guarded_ : met_always_).insert(id).second) return;
    met_.insert(id);
    if (exprs_.at(id).kind == Expr::Kind::Reduce && std::ranges::find(reductions_, id) == reductions_.end())
      reductions_.push_back(id);
    const bool guards = exprs_.at(id).kind == Expr::Kind::Guard;
    const ExprId condition = guards ? exprs_.at(id).parts[0] : 0;
    exprs_.for_each_part(id, [&](ExprId part) { collect_reductions(part, guarded || (guards && part != condition)); });
    if (exprs_.at(id).kind == Expr::Kind::Running && std::ranges::find(kernel_.running, id) == kernel_.running.end())
      kernel_.running.push_back(id);
  }

  // Tells whether the reductions that several elements have in common take a few steps each, none of which is one of these
  // elements, while other reductions are made for each element.
  bool can_repeat(const Variables& all) {
    bool any = false;
    for (const ExprId reduction : reductions_) {
      if (exprs_.free_variables(reduction) == all) {
        any = true;
        continue;
      }
      int64_t steps = 1;
      for (const VariableId variable : exprs_.at(reduction).variables) {
        if (all.contains(variable)) return false;
        steps *= sizes_.largest(indices_.extent(variable));
      }
      if (steps > kFewSteps) return false;
    }
    return any;
  }

  bool is_tiled(ExprId reduction) const { return definitions_.tensors()[exprs_.at(reduction).tensor].tiled; }

  // A product in tiles is the only reduction of its kernel, for each of its elements: others that it takes are stored before,
  // and so is the product for others that take it.
  std::vector<TensorId> apart_from_products() {
    const auto tiled = std::ranges::find_if(reductions_, [&](ExprId id) { return is_tiled(id); });
    if (tiled == reductions_.end()) return {};
    const TensorId own = exprs_.at(*tiled).tensor;
    const bool is_for_each = exprs_.free_variables(*tiled).size() == loops_.size() && !guarded_.contains(*tiled);
    if (reductions_.size() == 1 && is_for_each) return {};
    if (std::ranges::find(stored_, own) == stored_.end()) return {own};
    // Others that have more loops read it.
    if (!is_for_each && stored_.size() > 1) return {own};
    std::vector<TensorId> others;
    for (const ExprId reduction : reductions_) {
      if (reduction != *tiled) others.push_back(exprs_.at(reduction).tensor);
    }
    return others;
  }

  VariableId along(ExprId running_sum) const { return indices_.at(exprs_.at(running_sum).places[0]).variable; }

  // Running sums go along one loop of the results, where at most one fold goes too: others are stored before, or these sums.
  std::vector<TensorId> apart_from_running_sums() const {
    std::vector<TensorId> apart;
    for (const ExprId id : kernel_.running) {
      const Index& place = indices_.at(exprs_.at(id).places[0]);
      const bool is_loop =
          place.kind == Index::Kind::Variable && std::ranges::find(loops_, place.variable) != loops_.end();
      // Others would add up the same again.
      const TensorId own = exprs_.at(id).tensor;
      const bool is_for_each =
          exprs_.free_variables(id).size() == loops_.size() || std::ranges::find(stored_, own) != stored_.end();
      if (!is_loop || !is_for_each || place.variable != along(kernel_.running[0])) apart.push_back(own);
    }
    if (kernel_.running.empty() || !apart.empty()) return apart;
    for (const ExprId reduction : reductions_) {
      const bool is_only = reduction == reductions_[0] && !guarded_.contains(reduction);
      if (!is_only || exprs_.at(reduction).variables != std::vector<VariableId>{along(kernel_.running[0])})
        apart.push_back(exprs_.at(reduction).tensor);
    }
    return apart;
  }

  void collect_folded(ExprId id, std::vector<TensorId>& found) const {
    if (exprs_.at(id).kind == Expr::Kind::Reduce) {
      found.push_back(exprs_.at(id).tensor);
      return;
    }
    exprs_.for_each_part(id, [&](ExprId part) { collect_folded(part, found); });
  }

  std::vector<TensorId> folded_tensors() const {
    std::vector<TensorId> all;
    for (const ExprId reduction : reductions_) all.push_back(exprs_.at(reduction).tensor);
    return all;
  }

  // All stores lie in all loops, or in the items alone.
  bool fits_items(const Variables& items) {
    for (const Store& store : kernel_.stores) {
      Variables own;
      for (const IndexId place : store.place) indices_.variables_in(place, own);
      if (own.size() != loops_.size() && own != items) return false;
    }
    return true;
  }

  Access access(const Store& store) { return access_in(definitions_, store.tensor, store.place); }
  Access access(ExprId load) {
    const Expr& expr = exprs_.at(load);
    return access_in(definitions_, expr.tensor, expr.places);
  }

  // Orders loops by the memory of the first result, so that it is written from one end to the other.
  void order_loops() {
    const Access first = access(kernel_.stores[0]);
    const auto step = [&](VariableId variable) {
      const auto found = first.steps.find(variable);
      return found == first.steps.end() ? int64_t{0} : sizes_.largest(found->second);
    };
    std::ranges::stable_sort(loops_, std::ranges::greater(), step);
  }

  bool moves_by_one(const Access& access, VariableId variable) const {
    const auto found = access.steps.find(variable);
    return found != access.steps.end() && sizes_.is_one(found->second);
  }

  void choose_lanes() {
    // Lanes reduce floats together, conditions, and whole numbers but for their products.
    const auto is_shared = [&](ExprId reduction) {
      const Expr& expr = exprs_.at(reduction);
      return expr.compute == Compute::Float || expr.compute == Compute::Bool ||
             (expr.compute == Compute::Int && expr.fold != Fold::Product);
    };
    if (!std::ranges::all_of(reductions_, is_shared) ||
        std::ranges::any_of(reductions_, std::bind_front(&Planner::is_tiled, this)))
      return;
    if (!kernel_.row.empty()) {
      // Neighbours in memory are elements of one row.
      const bool along_row = std::ranges::any_of(
          kernel_.stores, [&](const Store& store) { return moves_by_one(access(store), kernel_.row.back().variable); });
      kernel_.lanes = along_row ? Lanes::Row : Lanes::Items;
      return;
    }
    // Only results of reductions: they share the lanes where what they read lies side by side.
    if (reductions_.empty() || !guarded_.empty()) return;
    const std::vector<VariableId> variables = exprs_.at(reductions_[0]).variables;
    for (const ExprId reduction : reductions_) {
      if (exprs_.at(reduction).variables != variables) return;
    }
    int64_t length = 1;
    for (const VariableId variable : variables) length *= sizes_.largest(indices_.extent(variable));
    if (length < kShortestRow) return;
    // Accesses that move with both loops decide: the rest is read once for a row, or for all of them. Neighbours that
    // look at windows of one row of a picture go along it.
    int along_row = 0, along_items = 0;
    for (const ExprId load : loads_in(exprs_, kernel_)) {
      const Access from = access(load);
      const bool both = kernel_.items.empty() || from.moves_with(kernel_.items.back().variable);
      const bool is_window = !kernel_.items.empty() && moves_by_one(from, variables.back()) &&
                             moves_by_one(from, kernel_.items.back().variable);
      if (is_window) return;
      along_row += moves_by_one(from, variables.back()) ? (both ? 8 : 1) : 0;
      const bool steps = std::ranges::any_of(variables, std::bind_front(&Access::moves_with, &from));
      const bool beside = !kernel_.items.empty() && moves_by_one(from, kernel_.items.back().variable);
      along_items += beside ? (steps ? 8 : 1) : 0;
    }
    if (along_row <= along_items) return;
    kernel_.lanes = Lanes::Row;
    for (const VariableId variable : variables) kernel_.row.push_back({variable, indices_.extent(variable)});
  }

  // Two loops are one where every access goes on in the inner one as it does from step to step of the outer one.
  void merge(std::vector<Loop>& loops) {
    std::vector<Access> accesses;
    for (const Store& store : kernel_.stores) accesses.push_back(access(store));
    for (const ExprId load : loads_in(exprs_, kernel_)) accesses.push_back(access(load));
    Variables as_numbers;
    for (const ExprId id : met_) {
      if (exprs_.at(id).kind == Expr::Kind::Place) indices_.variables_in(exprs_.at(id).places[0], as_numbers);
    }
    for (size_t i = loops.size(); i-- > 1;) {
      const Loop inner = loops[i], outer = loops[i - 1];
      bool together = !as_numbers.contains(inner.variable) && !as_numbers.contains(outer.variable);
      for (const Access& one : accesses) {
        const auto a = one.steps.find(outer.variable), b = one.steps.find(inner.variable);
        together = together && !one.irregular.contains(inner.variable) && !one.irregular.contains(outer.variable) &&
                   (a == one.steps.end()) == (b == one.steps.end()) &&
                   (a == one.steps.end() || is_product(a->second, b->second, inner.extent));
      }
      // A reduction over one of them alone keeps both.
      for (const ExprId reduction : reductions_) {
        const auto& variables = exprs_.at(reduction).variables;
        together = together && (std::ranges::find(variables, inner.variable) == variables.end()) ==
                                   (std::ranges::find(variables, outer.variable) == variables.end());
      }
      if (!together) continue;
      loops[i].extent = sizes_.product(outer.extent, inner.extent);
      loops.erase(loops.begin() + static_cast<ptrdiff_t>(i) - 1);
    }
  }
  bool is_product(SizeId whole, SizeId a, SizeId b) const {
    const ByExample &x = sizes_.values(whole), &y = sizes_.values(a), &z = sizes_.values(b);
    for (size_t i = 0; i < x.size(); ++i) {
      if (x[i] != y[i] * z[i]) return false;
    }
    return true;
  }

  Definitions& definitions_;
  ExprTable& exprs_;
  IndexTable& indices_;
  SizeTable& sizes_;
  Scope scope_;
  const std::vector<TensorId>& stored_;
  const bool repeat_;
  FusedKernel kernel_;
  std::vector<VariableId> loops_;
  std::vector<ExprId> reductions_;
  std::set<ExprId> met_, met_always_, met_guarded_;
  std::set<ExprId> guarded_;  // reductions in branches of a guard
};

void collect(Expr::Kind kind, const ExprTable& exprs, ExprId id, std::set<ExprId>& met, std::vector<ExprId>& found) {
  if (!met.insert(id).second) return;
  exprs.for_each_part(id, [&](ExprId part) { collect(kind, exprs, part, met, found); });
  if (exprs.at(id).kind == kind) found.push_back(id);
}

void collect_outermost(const ExprTable& exprs, ExprId id, std::set<ExprId>& met, std::set<ExprId>& found) {
  if (!met.insert(id).second) return;
  if (exprs.at(id).kind == Expr::Kind::Reduce) {
    found.insert(id);
    return;
  }
  exprs.for_each_part(id, [&](ExprId part) { collect_outermost(exprs, part, met, found); });
}

}  // namespace

SizeId loop_steps(SizeTable& sizes, const std::vector<Loop>& loops) {
  SizeId steps = sizes.one();
  for (const Loop& loop : loops) steps = sizes.product(steps, loop.extent);
  return steps;
}

bool lie_in_one_piece(SizeTable& sizes, const Access& access, const std::vector<Loop>& loops) {
  SizeId step = sizes.one();
  for (auto loop = loops.rbegin(); loop != loops.rend(); ++loop) {
    const auto found = access.steps.find(loop->variable);
    if (found == access.steps.end() || found->second != step || access.irregular.contains(loop->variable)) return false;
    step = sizes.product(step, loop->extent);
  }
  return true;
}

Access access_in(Definitions& definitions, TensorId tensor, const std::vector<IndexId>& place) {
  return access_of(definitions.exprs(), place, definitions.tensors()[tensor].strides);
}

Planned plan_kernel(Definitions& definitions, const std::vector<TensorId>& stored,
                    const std::function<bool(TensorId)>& in_memory, bool repeat) {
  return Planner(definitions, stored, in_memory, repeat).run();
}

std::vector<ExprId> loads_in(const ExprTable& exprs, const FusedKernel& kernel) {
  std::set<ExprId> met;
  std::vector<ExprId> loads;
  for (const Store& store : kernel.stores) collect(Expr::Kind::Load, exprs, store.value, met, loads);
  return loads;
}

std::vector<ExprId> reductions_in(const ExprTable& exprs, const std::vector<ExprId>& values) {
  std::set<ExprId> met;
  std::vector<ExprId> found;
  for (const ExprId value : values) collect(Expr::Kind::Reduce, exprs, value, met, found);
  return found;
}

std::set<ExprId> outermost_reductions(const ExprTable& exprs, const FusedKernel& kernel) {
  std::set<ExprId> met, found;
  for (const Store& store : kernel.stores) collect_outermost(exprs, store.value, met, found);
  return found;
}

}  // namespace passnet::author
