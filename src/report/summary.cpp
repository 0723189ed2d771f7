#include "report/summary.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

#include "base/text/strings.h"
#include "report/row.h"

namespace passnet::report {

std::string reach_text(const record::Summary& summary) {
  const double fast = 100 * summary.share(summary.fast);
  if (!summary.reach) return fmt::format("fast_1 {:.0f} %; a log says nothing of coverage", fast);
  const record::Reach& reach = *summary.reach;
  const int abstained = reach.declined + reach.unmatched;
  std::string text = fmt::format("coverage {} of {}, {} where applied, fast_1 {:.0f} %, abstained {}", reach.applied,
                                 summary.total, ratio_text(reach.speedup_applied.value_or(0)), fast, abstained);
  if (abstained > 0) text += fmt::format(" ({} declined, {} unmatched)", reach.declined, reach.unmatched);
  if (reach.library)
    text += fmt::format(", {} right with library calls ({} without a kernel of its own)", reach.library->correct,
                        reach.library->replayed);
  return text;
}

std::string other_scores_text(const record::Summary& summary, const record::Score& score) {
  const std::string shown = fmt::format("{:.3f}", score.aggregated_linear);
  std::vector<std::string> parts;
  const auto add = [&](double other, const char* condition) {
    const std::string text = fmt::format("{:.3f}", other);
    if (text != shown) parts.push_back(text + condition);
  };
  add(summary.unforgiven.linear, " if no failure is forgiven");
  if (summary.reach && summary.reach->unmatched > 0) add(summary.reach->abstaining.linear, " if the unmatched count 1");
  if (summary.reach && summary.reach->library)
    add(summary.reach->library->refused.linear, " if library calls are refused");
  return join(parts, ", ");
}

std::string below_speedup_text(const record::Score& score) {
  constexpr int kStrictestThatWeighs = -7;  // docs/scoring.md, "The aggregated score"
  const double speedup = score.geomean_speedup.value_or(0);
  if (score.aggregated_linear > 0.99 * speedup) return {};
  std::vector<std::string> parts;
  for (int t = record::kCorrectT; t >= kStrictestThatWeighs; --t) {
    const auto wrong = std::lround((1 - score.at(t).correct_share) * score.total);
    if (wrong > 0) parts.push_back(fmt::format("{} of {} at t = {}", wrong, score.total, t));
  }
  if (parts.empty()) return {};
  return fmt::format("below {}, as a graph counts 0.1 at each t at which it is not right: {}", ratio_text(speedup),
                     join(parts, ", "));
}

}  // namespace passnet::report
