// From the number of kernels that each prefix of a graph needs to the ranges that fuse.
// Source: docs/dataset-format.md, "How fusible ranges are found".
#pragma once

#include <span>
#include <vector>

#include "analysis/range.h"

namespace passnet::dataset {

/// kernels:  kernels[n] is the number of launches that the first n + 1 nodes of the body need.
/// Returns:  disjoint, sorted ranges of at least two nodes: each is a node with which the count reaches a level and the
///           nodes after it that do not raise it. A rise that is taken back later counts as no rise.
std::vector<analysis::Range> fusible_ranges(std::span<const int> kernels);

}  // namespace passnet::dataset
