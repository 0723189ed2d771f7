// A kernel as it is written for one target.
#pragma once

#include "author/fuse/kernel.h"

namespace passnet::author {

/// Lanes of a vector of a CPU: what kernels call kLanes.
inline constexpr int64_t kLanes = 16;

/// With what it computes on that target alone; on a GPU the elements of a row, which its threads share out, are one loop, and on
/// a CPU items whose last loop is shorter than lanes are many.
FusedKernel for_target(Definitions& definitions, const FusedKernel& kernel, Target target);

}  // namespace passnet::author
