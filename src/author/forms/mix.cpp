#include "author/forms/mix.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

namespace passnet::author {

namespace {

// The gain that a mix must promise, and the least difference between forms on a graph: less may be noise.
constexpr double kLeastGain = 1.03;
// The least difference in cost between results that are told apart.
constexpr double kLeastCost = 1.01;

using Declined = std::map<std::string, std::string>;

/// Graphs that are faster.
using Gains = std::map<std::string, GraphGain>;
Gains faster_of(const std::vector<GraphGain>& gains) {
  Gains faster;
  for (const GraphGain& one : gains) {
    if (one.gain == Gain::Faster) faster[one.graph] = one;
  }
  return faster;
}
/// 1 where a graph is left alone, or no faster.
double worth_of(const Gains& gains, const std::string& graph) {
  const auto found = gains.find(graph);
  return found == gains.end() ? 1 : found->second.worth;
}
/// "1.84x", "1.84x (scores 1.52)"
std::string text_of(const GraphGain& gain) {
  const std::string ratio = fmt::format("{:.2f}x", gain.ratio);
  return gain.ratio < kLeastCost * gain.worth ? ratio : fmt::format("{} (scores {:.2f})", ratio, gain.worth);
}

bool is_for_one_of(const Written& pass, const std::set<std::string>& graphs) {
  return std::ranges::any_of(pass.python.sites, [&](const auto& site) { return graphs.contains(site.first); });
}

}  // namespace

std::optional<Mixed> mix(const Authored& first, const Records& records, const JudgedForm& best) {
  const std::vector<GraphGain> gains = gains_of(records);
  std::set<std::string> wrong;
  for (const GraphGain& one : gains) {
    if (one.gain == Gain::NotMeasured) return std::nullopt;  // nothing says whose passes are to take it
    if (one.gain == Gain::Wrong) wrong.insert(one.graph);
  }
  Mixed mixed{{{}, first.left}, {}, true};
  std::set<std::string> without;  // graphs of passes that are left out
  for (const Written& pass : first.passes) {
    if (is_for_one_of(pass, wrong)) {
      for (const auto& [graph, condition] : pass.python.sites) without.insert(graph);
      mixed.is_first_alone = false;
    } else {
      mixed.authored.passes.push_back(pass);
    }
  }
  const Gains of_first = faster_of(gains), of_best = faster_of(gains_of(best.judged.records));
  Declined left, taken;  // by those of `first`, and from those of `best`
  double gain = 0;
  for (const record::RunRecord& one : records) {
    const double before = without.contains(one.graph) ? 1 : worth_of(of_first, one.graph);
    const double after = worth_of(of_best, one.graph);
    gain += std::log(std::max(before, after) / after);
    if (before == 1)
      left[one.graph] = "no faster beyond the noise";
    else if (after > kLeastGain * before)
      left[one.graph] =
          fmt::format("{}, and {} by another pass", text_of(of_first.at(one.graph)), text_of(of_best.at(one.graph)));
    else
      taken[one.graph] = text_of(of_first.at(one.graph)) + " by another pass";
  }
  if (gain < static_cast<double>(records.size()) * std::log(kLeastGain)) return std::nullopt;
  for (const auto& [graph, gain] : of_best) {
    if (!left.contains(graph) && !taken.contains(graph)) left[graph] = text_of(gain) + " by another pass";
  }
  mixed.declined.assign(mixed.authored.passes.size(), left);
  mixed.is_first_alone = mixed.is_first_alone && left.empty();
  if (mixed.is_first_alone) return mixed;
  for (size_t i = 0; i < best.authored.passes.size(); ++i) {
    const PassVerdict& verdict = best.judged.passes[i];
    // Those that decline all that they match stand for graphs that have no other pass.
    if (!verdict.kept && verdict.declined.empty()) continue;
    mixed.authored.passes.push_back(best.authored.passes[i]);
    mixed.declined.push_back(verdict.declined);
    mixed.declined.back().insert(taken.begin(), taken.end());
  }
  return mixed;
}

}  // namespace passnet::author
