// Rank correlation of two lists of figures of the same things, with ties.
#pragma once

#include <optional>
#include <span>

namespace passnet::leaderboard {

/// Both are in [-1, 1], of pairs a[i], b[i].
struct RankCorrelation {
  double spearman = 0;  // Pearson's correlation of the ranks, equal figures having the mean of theirs
  double kendall = 0;   // tau-b: (concordant - discordant) pairs over the geometric mean of those untied in each
};

/// None for fewer than two pairs, and where all of a list are equal: there is no order to agree with.
/// REQUIRES: as many in a as in b, all finite.
std::optional<RankCorrelation> rank_correlation(std::span<const double> a, std::span<const double> b);

}  // namespace passnet::leaderboard
