// From the number of kernels that each prefix of a graph needs to the ranges that fuse. Source: dataset
// specification, C.4.
#pragma once

#include <span>
#include <vector>

#include "analysis/range.h"

namespace passnet::dataset {

/// kernels[n]: launches that the first n + 1 nodes need. A range is the node that reaches a number of
/// launches and the nodes after it that add none (rises that fall back count as none). Ranges have two nodes
/// at least, are disjoint and sorted.
std::vector<analysis::Range> fusible_ranges(std::span<const int> kernels);

}  // namespace passnet::dataset
