// The parts that models repeat: patterns of operators folded out of all sequences together. Source: dataset
// specification, C.3.
#pragma once

#include <cstdint>
#include <span>
#include <vector>

#include "analysis/range.h"

namespace passnet::dataset {

struct TypicalOptions {
  size_t window = 64;    // longest pattern
  int extra_folds = 16;  // patterns that are folded after the first
  size_t min_ops = 4;    // shortest range
  size_t max_ops = 64;   // ranges are shorter than this
};

/// sequences: of each graph its operators, as numbers that stand for their names (0, 1, … without gaps).
/// Ranges of each graph, sorted, disjoint. Not every range is repeated: what lies between patterns is given
/// too, and a small graph as a whole.
std::vector<std::vector<analysis::Range>> typical_ranges(std::span<const std::vector<uint32_t>> sequences,
                                                         const TypicalOptions& options);

}  // namespace passnet::dataset
