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

// The distinct transitions of a sequence.
std::set<Edge> edges_of(const std::vector<std::string>& sequence) {
  std::set<Edge> edges;
  for (size_t i = 1; i < sequence.size(); ++i) edges.emplace(sequence[i - 1], sequence[i]);
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

std::vector<size_t> choose_sequences(std::span<const std::vector<std::string>> sequences, size_t count) {
  std::vector<size_t> chosen;
  if (count >= sequences.size()) {
    chosen.resize(sequences.size());
    std::iota(chosen.begin(), chosen.end(), 0);
    return chosen;
  }
  const std::vector<double> rarity = rarities(sequences);
  std::vector<std::set<Edge>> edges;
  for (const auto& sequence : sequences) edges.push_back(edges_of(sequence));
  std::set<Edge> covered;
  std::vector<bool> taken(sequences.size());
  while (chosen.size() < count) {
    std::tuple<double, size_t, double, size_t> best;
    size_t best_index = sequences.size();
    for (size_t i = 0; i < sequences.size(); ++i) {
      if (taken[i]) continue;
      const auto fresh = static_cast<size_t>(std::count_if(edges[i].begin(), edges[i].end(), [&](const Edge& edge) { return !covered.contains(edge); }));
      const std::tuple value{static_cast<double>(fresh) * (1 + rarity[i]), fresh, rarity[i], edges[i].size()};
      if (best_index < sequences.size() && value <= best) continue;
      best = value;
      best_index = i;
    }
    taken[best_index] = true;
    chosen.push_back(best_index);
    covered.insert(edges[best_index].begin(), edges[best_index].end());
  }
  return chosen;
}

}  // namespace passnet::dataset
