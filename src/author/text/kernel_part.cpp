#include "author/text/kernel_part.h"

#include <algorithm>
#include <numeric>
#include <utility>

namespace passnet::author {

SplitKernel whole_of(const FusedKernel& kernel) {
  SplitKernel whole;
  whole.stores.resize(kernel.stores.size());
  std::iota(whole.stores.begin(), whole.stores.end(), size_t{0});
  whole.over_row = false;
  return whole;
}

KernelPart part_of(const ExprTable& exprs, const FusedKernel& kernel, SplitKernel own, const SplitRow* split) {
  KernelPart part{kernel, std::move(own), split, {}, {}};
  for (const ExprId reduction : part.own.reductions) part.roots.push_back(exprs.at(reduction).parts[0]);
  for (const size_t i : part.own.stores) {
    part.stores.push_back(&kernel.stores[i]);
    part.roots.push_back(kernel.stores[i].value);
  }
  return part;
}

std::set<VariableId> variables_of(const std::vector<Loop>& loops) {
  std::set<VariableId> all;
  for (const Loop& loop : loops) all.insert(loop.variable);
  return all;
}

bool moves_with_row(ExprTable& exprs, const FusedKernel& kernel, ExprId id) {
  const std::set<VariableId>& free = exprs.free_variables(id);
  return std::ranges::any_of(kernel.row, [&](const Loop& loop) { return free.contains(loop.variable); });
}

bool lies_in_row(Definitions& definitions, const FusedKernel& kernel, const Store& store) {
  const Access to = access_in(definitions, store.tensor, store.place);
  return std::ranges::any_of(kernel.row, [&](const Loop& loop) { return to.moves_with(loop.variable); });
}

}  // namespace passnet::author
