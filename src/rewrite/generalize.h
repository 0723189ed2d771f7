// Numbers of a pattern that stand for sizes: `x.view(8, 48, -1)` was written for one shape, and means any.
#pragma once

#include <cstdint>

#include "ir/graph.h"
#include "ir/ops/table.h"

namespace passnet::rewrite {

/// Whether `expected`, an integer in argument `argument` of the pattern's call, may stand for the size `found`: both are at
/// least 1, and the operator's row says that the parameter holds sizes of views and new tensors, bounds of slices and
/// ranges, or sizes of pieces. -1 and 0 are never sizes.
bool may_stand_for_size(const ir::CanonicalCall& call, uint32_t argument, const ir::Arg& expected,
                        const ir::Arg& found);

/// Whether equal numbers of a pattern must stand for equal sizes. 1 need not: it is the batch here and a broadcast axis
/// there.
bool is_one_symbol(int64_t number);

}  // namespace passnet::rewrite
