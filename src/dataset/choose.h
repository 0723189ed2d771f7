// Which operator sequences make a benchmark of a given size: those with new and rare transitions first.
// Source: docs/dataset-format.md, "How sequences are chosen".
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace passnet::dataset {

/// sequences: operator names in order.
/// Returns:   by sequence, how rare its transitions (pairs of neighbouring operators) are among all sequences, from 0
///            for the commonest to 1 for the rarest; all 0 when there is no difference.
std::vector<double> rarities(std::span<const std::vector<std::string>> sequences);

/// Returns: all indices of `sequences` in the order of choice: the next one is always that which adds the most
///          transitions not seen yet, weighted by its rarity; of equal ones the earlier.
std::vector<size_t> rank_sequences(std::span<const std::vector<std::string>> sequences);

}  // namespace passnet::dataset
