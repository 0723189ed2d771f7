#include "dataset/choose.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

namespace passnet::dataset {

namespace {

constexpr double kSmoothing = 1e-3;

using Edge = std::pair<std::string, std::string>;

// Of each sequence its distinct transitions, as numbers.
std::vector<std::vector<size_t>> numbered_edges(std::span<const std::vector<std::string>> sequences) {
  std::map<Edge, size_t> numbers;
  std::vector<std::vector<size_t>> edges;
  for (const auto& sequence : sequences) {
    std::vector<size_t>& own = edges.emplace_back();
    for (size_t i = 1; i < sequence.size(); ++i)
      own.push_back(numbers.try_emplace({sequence[i - 1], sequence[i]}, numbers.size()).first->second);
    std::sort(own.begin(), own.end());
    own.erase(std::unique(own.begin(), own.end()), own.end());
  }
  return edges;
}

}  // namespace

std::vector<double> rarities(std::span<const std::vector<std::string>> sequences) {
  std::map<Edge, double> counts;
  std::map<std::string, double> leaving;
  std::set<std::string> vocabulary;
  for (const auto& sequence : sequences) {
    vocabulary.insert(sequence.begin(), sequence.end());
    for (size_t i = 1; i < sequence.size(); ++i) {
      ++counts[{sequence[i - 1], sequence[i]}];
      ++leaving[sequence[i - 1]];
    }
  }
  std::vector<double> found;
  for (const auto& sequence : sequences) {
    double sum = 0;
    for (size_t i = 1; i < sequence.size(); ++i) {
      const double likely = (counts[{sequence[i - 1], sequence[i]}] + kSmoothing) /
                            (leaving[sequence[i - 1]] + kSmoothing * static_cast<double>(vocabulary.size()));
      sum -= std::log(likely);
    }
    found.push_back(sequence.size() > 1 ? sum / static_cast<double>(sequence.size() - 1) : 0);
  }
  if (found.empty()) return found;
  const auto [least, most] = std::minmax_element(found.begin(), found.end());
  const double low = *least, span = *most - *least;
  for (double& value : found) value = span > 0 ? (value - low) / span : 0;
  return found;
}

std::vector<size_t> rank_sequences(std::span<const std::vector<std::string>> sequences) {
  const std::vector<double> rarity = rarities(sequences);
  const std::vector<std::vector<size_t>> edges = numbered_edges(sequences);
  std::set<size_t> covered;
  std::vector<size_t> ranked, left(sequences.size());
  std::iota(left.begin(), left.end(), 0);
  const auto value = [&](size_t i) {
    const auto fresh = static_cast<size_t>(
        std::count_if(edges[i].begin(), edges[i].end(), [&](size_t edge) { return !covered.contains(edge); }));
    return std::tuple{static_cast<double>(fresh) * (1 + rarity[i]), fresh, rarity[i], edges[i].size()};
  };
  while (!left.empty()) {
    const auto best =
        std::max_element(left.begin(), left.end(), [&](size_t a, size_t b) { return value(a) < value(b); });
    ranked.push_back(*best);
    covered.insert(edges[*best].begin(), edges[*best].end());
    left.erase(best);
  }
  return ranked;
}

}  // namespace passnet::dataset
