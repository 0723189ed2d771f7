#include "leaderboard/rank.h"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace passnet::leaderboard {

namespace {

/// From 1; equal figures have the mean of their ranks.
std::vector<double> ranks_of(std::span<const double> figures) {
  std::vector<size_t> order(figures.size());
  std::iota(order.begin(), order.end(), size_t{0});
  std::ranges::sort(order, {}, [&](size_t i) { return figures[i]; });
  std::vector<double> ranks(figures.size());
  for (size_t first = 0, next = 0; first < order.size(); first = next) {
    while (next < order.size() && figures[order[next]] == figures[order[first]]) ++next;
    const double mean = (static_cast<double>(first + next) + 1) / 2;
    for (size_t i = first; i < next; ++i) ranks[order[i]] = mean;
  }
  return ranks;
}

double mean_of(std::span<const double> values) {
  return std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
}

/// nan when one of them does not vary.
double pearson(std::span<const double> a, std::span<const double> b) {
  const double mean_a = mean_of(a), mean_b = mean_of(b);
  double both = 0, only_a = 0, only_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    both += (a[i] - mean_a) * (b[i] - mean_b);
    only_a += (a[i] - mean_a) * (a[i] - mean_a);
    only_b += (b[i] - mean_b) * (b[i] - mean_b);
  }
  return both / std::sqrt(only_a * only_b);
}

int sign(double value) { return value > 0 ? 1 : value < 0 ? -1 : 0; }

double tau_b(std::span<const double> a, std::span<const double> b) {
  double agreed = 0, untied_a = 0, untied_b = 0;
  for (size_t i = 0; i < a.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      const int of_a = sign(a[i] - a[j]), of_b = sign(b[i] - b[j]);
      agreed += of_a * of_b;
      untied_a += of_a * of_a;
      untied_b += of_b * of_b;
    }
  }
  return agreed / std::sqrt(untied_a * untied_b);
}

}  // namespace

std::optional<RankCorrelation> rank_correlation(std::span<const double> a, std::span<const double> b) {
  PASSNET_CHECK(a.size() == b.size(), "rank correlation of lists of different lengths");
  if (a.size() < 2) return std::nullopt;
  const std::vector<double> ranks_a = ranks_of(a), ranks_b = ranks_of(b);
  const RankCorrelation found{pearson(ranks_a, ranks_b), tau_b(a, b)};
  if (!std::isfinite(found.spearman) || !std::isfinite(found.kendall)) return std::nullopt;
  return found;
}

}  // namespace passnet::leaderboard
