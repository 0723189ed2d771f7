#include "author/fuse/for_target.h"

#include <algorithm>
#include <vector>

namespace passnet::author {

namespace {

/// Whether the row has loops that could not be merged, as each step of an outer one has its own weight, and all that is folded
/// goes over all of them.
bool has_loops_to_join(const ExprTable& exprs, const FusedKernel& kernel) {
  if (kernel.lanes != Lanes::Row || kernel.row.size() < 2 || !kernel.running.empty()) return false;
  std::vector<ExprId> values;
  for (const Store& store : kernel.stores) values.push_back(store.value);
  return std::ranges::all_of(reductions_in(exprs, values),
                             [&](ExprId id) { return is_row(kernel, exprs.at(id).variables); });
}

FusedKernel with_one_loop(Definitions& definitions, const FusedKernel& kernel) {
  ExprTable& exprs = definitions.exprs();
  IndexTable& indices = exprs.indices();
  std::vector<SizeId> extents;
  for (const Loop& loop : kernel.row) extents.push_back(loop.extent);
  const SizeId length = loop_steps(definitions.sizes(), kernel.row);
  ExprTable::Placed placed;
  placed.over = {kernel.row_variables.begin(), kernel.row_variables.end()};
  placed.one = indices.new_variable(length);
  // Others were merged into these, and do not count.
  for (const VariableId variable : kernel.row_variables) placed.places[variable] = indices.zero();
  const std::vector<IndexId> place = indices.place(indices.variable(placed.one), extents);
  for (size_t i = 0; i < place.size(); ++i) placed.places[kernel.row[i].variable] = place[i];
  FusedKernel joined = kernel;
  joined.row = {{placed.one, length}};
  joined.row_variables = {placed.one};
  for (Store& store : joined.stores) {
    store.value = exprs.placed(store.value, placed);
    for (IndexId& index : store.place)
      index = indices.with(index, placed.places, [&](ExprId element) { return exprs.placed(element, placed); });
  }
  return joined;
}

}  // namespace

FusedKernel for_target(Definitions& definitions, const FusedKernel& kernel, Target target) {
  FusedKernel own = kernel;
  for (Store& store : own.stores) store.value = definitions.exprs().for_target(store.value, target);
  for (ExprId& running : own.running) running = definitions.exprs().for_target(running, target);
  return target == Target::Cuda && has_loops_to_join(definitions.exprs(), own) ? with_one_loop(definitions, own) : own;
}

}  // namespace passnet::author
