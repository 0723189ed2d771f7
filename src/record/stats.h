// Statistics of trial times, as upstream computes them: quartiles interpolated linearly, standard deviation of the
// population. Source: docs/scoring.md, "Times".
#pragma once

#include <span>

namespace passnet::record {

struct Stats {
  double median = 0, q1 = 0, q3 = 0, iqr = 0, mean = 0, std = 0, min = 0, max = 0;  // unit of the samples
  /// Returns: iqr / median, 1.0 for 100 %; above kNoisy a result is called noisy.
  double noise() const { return median > 0 ? iqr / median : 0; }
};
inline constexpr double kNoisy = 0.2;

/// Returns: the statistics, all in the unit of the samples; all zero for an empty list, all nan when a sample is not
///          finite.
Stats summarize(std::span<const double> samples);
/// Returns: the value rounded to 6 significant digits, as upstream prints it.
double round6(double value);
/// Returns: the geometric mean; 1 for an empty list.
/// REQUIRES: all values > 0.
double geometric_mean(std::span<const double> values);

}  // namespace passnet::record
