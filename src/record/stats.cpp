#include "record/stats.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <numeric>
#include <vector>

#include "base/check.h"

namespace passnet::record {

namespace {

/// sorted: not empty. Linear interpolation between the two nearest ranks.
double percentile(const std::vector<double>& sorted, double share) {
  const double rank = share * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<size_t>(rank);
  const size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (rank - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace

Stats summarize(std::span<const double> samples) {
  if (samples.empty()) return {};
  if (!std::all_of(samples.begin(), samples.end(), [](double x) { return std::isfinite(x); })) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    return {nan, nan, nan, nan, nan, nan, nan, nan};
  }
  std::vector<double> sorted(samples.begin(), samples.end());
  std::sort(sorted.begin(), sorted.end());
  const auto count = static_cast<double>(sorted.size());

  Stats stats;
  stats.median = percentile(sorted, 0.5);
  stats.q1 = percentile(sorted, 0.25);
  stats.q3 = percentile(sorted, 0.75);
  stats.iqr = stats.q3 - stats.q1;
  stats.mean = std::accumulate(sorted.begin(), sorted.end(), 0.0) / count;
  const double squares = std::accumulate(sorted.begin(), sorted.end(), 0.0, [&](double sum, double x) {
    return sum + (x - stats.mean) * (x - stats.mean);
  });
  stats.std = std::sqrt(squares / count);
  stats.min = sorted.front();
  stats.max = sorted.back();
  return stats;
}

double round6(double value) {
  if (!std::isfinite(value)) return value;
  return std::strtod(fmt::format("{:.6g}", value).c_str(), nullptr);
}

double geometric_mean(std::span<const double> values) {
  if (values.empty()) return 1;
  double sum = 0;
  for (double value : values) {
    PASSNET_CHECK(value > 0, fmt::format("geometric mean of {}", value));
    sum += std::log(value);
  }
  return std::exp(sum / static_cast<double>(values.size()));
}

}  // namespace passnet::record
