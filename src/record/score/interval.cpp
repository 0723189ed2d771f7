#include "record/score/interval.h"

#include <algorithm>
#include <cmath>
#include <span>
#include <vector>

#include "record/stats.h"
#include "record/verdict.h"

namespace passnet::record {

namespace {

constexpr int kTrialsOfAGroup = 5;

/// Trials per block, as recorded, else groups of kTrialsOfAGroup.
std::vector<int> blocks_of(const Timing& timing) {
  if (!timing.blocks.empty()) return timing.blocks;
  std::vector<int> blocks(timing.trials_us.size() / kTrialsOfAGroup, kTrialsOfAGroup);
  if (blocks.empty()) blocks.push_back(static_cast<int>(timing.trials_us.size()));
  return blocks;
}

/// The median of each block, in order; of as many as there are trials for.
std::vector<double> block_medians(const Timing& timing) {
  std::vector<double> medians;
  size_t first = 0;
  for (const int count : blocks_of(timing)) {
    if (count <= 0 || first + static_cast<size_t>(count) > timing.trials_us.size()) break;
    medians.push_back(summarize(std::span(timing.trials_us).subspan(first, static_cast<size_t>(count))).median);
    first += static_cast<size_t>(count);
  }
  return medians;
}

/// How many of `count` ordered values lie outside the 95 % interval of their median at each end; 0: all of them are
/// needed.
size_t values_outside(size_t count) {
  double outside = 0, probability = std::pow(0.5, static_cast<double>(count));  // of 0 values below the median
  for (size_t k = 0; k < count / 2; ++k) {
    outside += probability;
    if (outside > 0.025) return k;
    probability *= static_cast<double>(count - k) / static_cast<double>(k + 1);
  }
  return 0;
}

}  // namespace

Interval ratio_interval(const Timing& reference, const Timing& candidate) {
  const double ratio = median_ratio(reference, candidate);
  if (!(ratio > 0)) return {};
  const std::vector<double> before = block_medians(reference), after = block_medians(candidate);
  std::vector<double> ratios;
  for (size_t i = 0; i < std::min(before.size(), after.size()); ++i) ratios.push_back(before[i] / after[i]);
  std::sort(ratios.begin(), ratios.end());
  const size_t outside = values_outside(ratios.size());
  const double below = std::min(ratio, ratios.empty() ? ratio : ratios[outside]);
  const double above = std::max(ratio, ratios.empty() ? ratio : ratios[ratios.size() - 1 - outside]);
  const double spread = std::log1p(kProcessSpread);
  return {ratio * std::exp(-std::hypot(std::log(ratio / below), spread)),
          ratio * std::exp(std::hypot(std::log(above / ratio), spread))};
}

Interval speedup_interval(const RunRecord& record) {
  if (!(judge(record).speedup > 0)) return {};
  return ratio_interval(record.reference, record.candidate);
}

}  // namespace passnet::record
