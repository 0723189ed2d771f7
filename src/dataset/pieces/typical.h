// The parts that models repeat: patterns of operators, found in the sequences of all graphs together.
// Source: docs/dataset-format.md, "How typical ranges are found".
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

/// sequences: by graph, the operators of its body, as numbers that stand for their names (0, 1, … without gaps).
/// Returns:   by graph, sorted and disjoint ranges of its body. Not every range is repeated: what lies between patterns
///            is also given, and a small graph as a whole.
std::vector<std::vector<analysis::Range>> typical_ranges(std::span<const std::vector<uint32_t>> sequences,
                                                         const TypicalOptions& options);

}  // namespace passnet::dataset
