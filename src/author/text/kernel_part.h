// The part of a kernel that is written: all of it, or one of those that it was split into.
#pragma once

#include <set>
#include <vector>

#include "author/fuse/kernel.h"
#include "author/fuse/split.h"

namespace passnet::author {

struct KernelPart {
  const FusedKernel& kernel;
  SplitKernel own;                   // what it does of it
  const SplitRow* split = nullptr;   // what the kernel was split into; nullptr: all of it is written
  std::vector<const Store*> stores;  // that it does
  std::vector<ExprId> roots;         // all that it computes: what it folds, then what it stores

  bool is_split() const { return split != nullptr; }
  /// Tells whether the loop goes over its share of a row alone.
  bool shares(const Loop& loop) const { return own.over_row && loop.variable == split->loops[0].variable; }
};
/// Describes an unsplit kernel.
SplitKernel whole_of(const FusedKernel& kernel);
/// split: must outlive what is made, as must the kernel.
KernelPart part_of(const ExprTable& exprs, const FusedKernel& kernel, SplitKernel own, const SplitRow* split = nullptr);

std::set<VariableId> variables_of(const std::vector<Loop>& loops);

/// Tells whether each element of the row has its own.
bool moves_with_row(ExprTable& exprs, const FusedKernel& kernel, ExprId id);
bool lies_in_row(Definitions& definitions, const FusedKernel& kernel, const Store& store);

}  // namespace passnet::author
