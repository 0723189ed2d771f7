// Which operator sequences make a benchmark of a given size: new and rare transitions first. Source: dataset
// specification, D.6.
#pragma once

#include <cstddef>
#include <span>
#include <string>
#include <vector>

namespace passnet::dataset {

/// By sequence: how unlikely its transitions are, from 0 for the likeliest to 1, by a Markov model of all
/// sequences (mean of -ln p, Laplace smoothing 1e-3). All 0 when all are alike.
std::vector<double> rarities(std::span<const std::vector<std::string>> sequences);

/// All indices in the order of choice: each adds the most transitions not seen yet, weighted with its rarity;
/// of equals the earlier.
std::vector<size_t> rank_sequences(std::span<const std::vector<std::string>> sequences);

}  // namespace passnet::dataset
