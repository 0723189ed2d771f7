#include "site/estimate.h"

#include <array>
#include <cmath>

#include "record/stats.h"

namespace passnet::site {

double student_quantile(size_t freedom) {
  static constexpr std::array<double, 10> kSmall = {12.706, 4.303, 3.182, 2.776, 2.571,
                                                    2.447,  2.365, 2.306, 2.262, 2.228};
  if (freedom <= kSmall.size()) return kSmall.at(freedom - 1);
  // Cornish and Fisher's expansion: right to 0.003 from 11 on.
  const double z = 1.959964, n = static_cast<double>(freedom);
  return z + (z * z * z + z) / (4 * n) + (5 * std::pow(z, 5) + 16 * z * z * z + 3 * z) / (96 * n * n);
}

Estimate estimate(const Ratios& ratios) {
  Estimate found;
  std::vector<double> logs;
  for (const auto& [task, of_graphs] : ratios) {
    if (of_graphs.empty()) continue;
    logs.push_back(std::log(record::geometric_mean(of_graphs)));
    found.graphs += of_graphs.size();
  }
  found.tasks = logs.size();
  if (logs.empty()) return found;
  double mean = 0, squares = 0;
  for (const double value : logs) mean += value / static_cast<double>(logs.size());
  for (const double value : logs) squares += (value - mean) * (value - mean);
  found.ratio = std::exp(mean);
  if (logs.size() < 2) return found;
  const auto n = static_cast<double>(logs.size());
  const double half = student_quantile(logs.size() - 1) * std::sqrt(squares / (n - 1) / n);
  found.interval = {std::exp(mean - half), std::exp(mean + half)};
  return found;
}

}  // namespace passnet::site
