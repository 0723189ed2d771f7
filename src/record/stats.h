// Statistics of trial times, as upstream computes them (spec E.1): linear-interpolated quartiles, population std.
#pragma once

#include <span>

namespace passnet::record {

struct Stats {
  double median = 0, q1 = 0, q3 = 0, iqr = 0, mean = 0, std = 0, min = 0, max = 0;  // unit of the samples
  /// iqr / median, percentage as 1.0 = 100 %; above 0.2 a result is called noisy.
  double noise() const { return median > 0 ? iqr / median : 0; }
};
inline constexpr double kNoisy = 0.2;

/// All zero for an empty list, all nan when a sample is not finite.
Stats summarize(std::span<const double> samples);
/// Rounded to 6 significant digits, as upstream prints.
double round6(double value);
/// Geometric mean; 1 for an empty list. REQUIRES: all values > 0.
double geometric_mean(std::span<const double> values);

}  // namespace passnet::record
