#include "bench/interval.h"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/verdict.h"

namespace passnet::bench {

namespace {

constexpr int kResamples = 1000;
constexpr double kOutside = 0.05;  // share of the resamples that the interval leaves out

/// times: not empty; its order changes. The mean of the two middle ones when their number is even, as in summarize().
double median_of(std::vector<double>& times) {
  const auto middle = times.begin() + static_cast<std::ptrdiff_t>(times.size() / 2);
  std::nth_element(times.begin(), middle, times.end());
  if (times.size() % 2 == 1) return *middle;
  return (*std::max_element(times.begin(), middle) + *middle) / 2;
}

/// As many trials as there are, in runs of neighbours (round the end) from random places. The drawing is ours, not the
/// standard library's, so that it is the same everywhere.
class Resampler {
 public:
  explicit Resampler(size_t trials) : trials_(trials), run_(std::max<size_t>(1, static_cast<size_t>(std::sqrt(trials)))) {}

  void draw(std::mt19937_64& random, std::vector<size_t>& picked) const {
    picked.clear();
    while (picked.size() < trials_) {
      const size_t start = random() % trials_;
      for (size_t i = 0; i < run_ && picked.size() < trials_; ++i) picked.push_back((start + i) % trials_);
    }
  }

 private:
  size_t trials_, run_;
};

double resampled_median(const std::vector<double>& times, const std::vector<size_t>& picked, std::vector<double>& room) {
  room.clear();
  for (const size_t i : picked) room.push_back(times[i]);
  return median_of(room);
}

}  // namespace

Interval speedup_interval(const RunRecord& record) {
  if (!times_valid(record.reference) || !times_valid(record.candidate)) return {};
  const std::vector<double>& reference = record.reference.trials_us;
  const std::vector<double>& candidate = record.candidate.trials_us;
  const bool paired = reference.size() == candidate.size();
  const Resampler of_reference(reference.size()), of_candidate(candidate.size());
  std::mt19937_64 random(20240229);  // any number; a fixed one
  std::vector<size_t> picked;
  std::vector<double> room, ratios;
  for (int i = 0; i < kResamples; ++i) {
    of_reference.draw(random, picked);
    const double above = resampled_median(reference, picked, room);
    if (!paired) of_candidate.draw(random, picked);
    ratios.push_back(above / resampled_median(candidate, picked, room));
  }
  std::sort(ratios.begin(), ratios.end());
  std::vector<double> all_reference = reference, all_candidate = candidate;
  const double ratio = median_of(all_reference) / median_of(all_candidate);
  constexpr auto kCut = static_cast<size_t>(kResamples * kOutside / 2);
  return {std::min(ratio, ratios[kCut]), std::max(ratio, ratios[kResamples - 1 - kCut])};
}

}  // namespace passnet::bench
