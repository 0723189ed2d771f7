// A kernel over long rows as several, one after the other, so that many blocks or tasks can share a row: each stores what
// its share of the row folds to, and those after it fold these partial results, always in the same order.
#pragma once

#include <optional>
#include <vector>

#include "author/fuse/kernel.h"

namespace passnet::author {

struct SplitKernel {
  std::vector<ExprId> reductions;  // whose partial results it stores; none: it is the last one
  std::vector<ExprId> given;       // whose partial results it folds first
  std::vector<size_t> stores;      // of the whole kernel's stores, by number
  bool over_row = true;            // it goes over the row; else it only folds what others stored
};

struct SplitRow {
  std::vector<Loop> loops;  // of each reduction; the first is what is shared out
  SizeId length = 0;        // of a row: all of these loops
  std::vector<SplitKernel> kernels;
};

/// nullopt: it has no reductions, or some that do not go over one row, or that are looked at under a condition alone.
std::optional<SplitRow> split_of(Definitions& definitions, const FusedKernel& kernel);

}  // namespace passnet::author
