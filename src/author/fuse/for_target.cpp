#include "author/fuse/for_target.h"

#include <algorithm>
#include <vector>

namespace passnet::author {

namespace {

// CPU: a loop no longer than that leaves most lanes empty. Lanes that go along several loops look for their places one by one.
constexpr int64_t kShortForLanes = 4;

/// Tells whether the row has loops that could not be merged, as each step of an outer one has its own weight, and all
/// that is folded goes over all of them.
bool has_loops_to_join(const ExprTable& exprs, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Row || kernel.row.size() < 2 || !kernel.running.empty()) return false;
  std::vector<ExprId> values;
  for (const Store& store : kernel.stores) values.push_back(store.value);
  return std::ranges::all_of(reductions_in(exprs, values),
                             [&](ExprId id) { return is_row(kernel, exprs.at(id).variables); });
}

/// Tells whether lanes go along items, as results do, but all that differs from element to element of a row is read
/// along it: for each of its folds and once more, where results are stored once.
bool reads_along_row(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Items || kernel.row.size() != 1 || kernel.items.empty() || !kernel.running.empty())
    return false;
  const SizeTable& sizes = definitions.sizes();
  const VariableId row = kernel.row[0].variable;
  bool any = false;
  for (const ExprId load : loads_in(definitions.exprs(), kernel)) {
    const Expr expr = definitions.exprs().at(load);
    const Access access = access_in(definitions, expr.tensor, expr.places);
    const bool is_along = moves_by_one(sizes, access, row) && !access.irregular.contains(row);
    const bool of_items =
        std::ranges::any_of(kernel.items, [&](const Loop& loop) { return access.moves_with(loop.variable); });
    if (!of_items || !access.moves_with(row)) continue;  // read once for a row, or for all of them
    if (!is_along) return false;
    any = true;
  }
  return any;
}

/// The kernel with other places for the variables of loops that are one now. REQUIRES: `one` goes over these loops.
FusedKernel with_one_loop(Definitions& definitions, const FusedKernel& kernel, const std::vector<Loop>& loops,
                          ExprTable::Placed placed) {
  ExprTable& exprs = definitions.exprs();
  IndexTable& indices = exprs.indices();
  std::vector<SizeId> extents;
  for (const Loop& loop : loops) extents.push_back(loop.extent);
  const std::vector<IndexId> place = indices.place(indices.variable(placed.one), extents);
  for (size_t i = 0; i < place.size(); ++i) placed.places[loops[i].variable] = place[i];
  FusedKernel joined = kernel;
  for (Store& store : joined.stores) {
    store.value = exprs.placed(store.value, placed);
    for (IndexId& index : store.place)
      index = indices.with(index, placed.places, [&](ExprId element) { return exprs.placed(element, placed); });
  }
  return joined;
}

FusedKernel with_one_row(Definitions& definitions, const FusedKernel& kernel) {
  IndexTable& indices = definitions.exprs().indices();
  const SizeId length = loop_steps(definitions.sizes(), kernel.row);
  ExprTable::Placed placed;
  placed.over = {kernel.row_variables.begin(), kernel.row_variables.end()};
  placed.one = indices.new_variable(length);
  // Others were merged into these, and do not count.
  for (const VariableId variable : kernel.row_variables) placed.places[variable] = indices.zero();
  FusedKernel joined = with_one_loop(definitions, kernel, kernel.row, placed);
  joined.row = {{placed.one, length}};
  joined.row_variables = {placed.one};
  return joined;
}

/// How many of the last loops over items lanes are to go along together, so that they are as many as there are lanes. 0: the last one
/// is long enough by itself, or elements are folded.
size_t loops_of_lanes(Definitions& definitions, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Items || !kernel.row.empty() || kernel.items.size() < 2) return 0;
  if (definitions.sizes().largest(kernel.items.back().extent) > kShortForLanes) return 0;
  const auto folds = [&](const Store& store) { return definitions.exprs().has_reduction(store.value); };
  if (std::ranges::any_of(kernel.stores, folds)) return 0;
  int64_t steps = 1;
  size_t count = 0;
  while (steps < kLanes && count < kernel.items.size())
    steps *= definitions.sizes().largest(kernel.items[kernel.items.size() - ++count].extent);
  return count < 2 ? 0 : count;
}

FusedKernel with_long_lanes(Definitions& definitions, const FusedKernel& kernel, size_t count) {
  const std::vector<Loop> loops(kernel.items.end() - static_cast<ptrdiff_t>(count), kernel.items.end());
  const SizeId length = loop_steps(definitions.sizes(), loops);
  ExprTable::Placed placed;
  placed.one = definitions.exprs().indices().new_variable(length);
  placed.over = {placed.one};
  FusedKernel joined = with_one_loop(definitions, kernel, loops, placed);
  joined.items.resize(kernel.items.size() - count);
  joined.items.push_back({placed.one, length});
  return joined;
}

}  // namespace

FusedKernel for_target(Definitions& definitions, const FusedKernel& kernel, Target target) {
  FusedKernel own = kernel;
  for (Store& store : own.stores) store.value = definitions.exprs().for_target(store.value, target);
  for (ExprId& running : own.running) running = definitions.exprs().for_target(running, target);
  if (target == Target::Cuda) {
    if (reads_along_row(definitions, own)) own.lanes = Lanes::Row;
    return has_loops_to_join(definitions.exprs(), own) ? with_one_row(definitions, own) : own;
  }
  const size_t loops = loops_of_lanes(definitions, own);
  return loops > 0 ? with_long_lanes(definitions, own, loops) : own;
}

}  // namespace passnet::author
