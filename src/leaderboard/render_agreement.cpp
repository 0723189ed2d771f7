#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "leaderboard/agree.h"

namespace passnet::leaderboard {

namespace {

constexpr size_t kNamed = 3;

std::string line_of(const char* side, const std::string& word, const std::string& reason) {
  return fmt::format("  {}: {}{}{}\n", side, word, reason.empty() ? "" : ": ", reason);
}

}  // namespace

std::string render_text(const Agreement& found) {
  std::string text = fmt::format("verdicts by PassBench's rules: {} of {} equal ({:.2f} %)\n", found.agreed,
                                 found.agreed + found.differing, 100 * found.share());
  text += fmt::format(
      "not compared: {} that one side could not read, {} that PassBench's rules do not judge, {} in one "
      "run alone\n",
      found.not_run, found.not_judged, found.alone);
  for (const DifferenceGroup& group : found.differences) {
    text += fmt::format("\n{} differ\n", group.graphs.size());
    text += line_of("A", group.a, group.reason_a) + line_of("B", group.b, group.reason_b);
    for (size_t i = 0; i < std::min(kNamed, group.graphs.size()); ++i) text += fmt::format("    {}\n", group.graphs[i]);
    if (group.graphs.size() > kNamed) text += fmt::format("    and {} more\n", group.graphs.size() - kNamed);
  }
  return text;
}

std::string render_json(const Agreement& found) {
  Json differences = Json::array();
  for (const DifferenceGroup& group : found.differences) {
    Json graphs = Json::array();
    for (const std::string& graph : group.graphs) graphs.push_back(valid_utf8(graph));
    differences.push_back({{"a", group.a},
                           {"b", group.b},
                           {"reason_a", valid_utf8(group.reason_a)},
                           {"reason_b", valid_utf8(group.reason_b)},
                           {"graphs", std::move(graphs)}});
  }
  return dump({{"share", found.share()},
               {"agreed", found.agreed},
               {"differing", found.differing},
               {"not_run", found.not_run},
               {"not_judged", found.not_judged},
               {"alone", found.alone},
               {"differences", std::move(differences)}},
              2) +
         "\n";
}

}  // namespace passnet::leaderboard
