#include "leaderboard/agree.h"

#include <algorithm>
#include <array>
#include <map>
#include <string_view>
#include <tuple>
#include <utility>

#include "base/text/strings.h"
#include "record/upstream/upstream_rules.h"
#include "record/verdict.h"

namespace passnet::leaderboard {

namespace {

using record::RunRecord;
using record::Stage;

constexpr size_t kReasonBytes = 200;

/// Whether the passes, or the graph, never came to be run for want of a reader of their text.
bool could_not_run(const RunRecord& record) {
  static constexpr std::array<std::string_view, 4> kUnread = {"bad-pass", "library-call", "unsupported", "untraceable"};
  return record.stage == Stage::Match && std::ranges::find(kUnread, record.error_kind) != kUnread.end();
}

/// The message of a record without the place where it stands, so that equal ones are one group.
std::string reason_of(const RunRecord& record) {
  const std::string_view first = split(record.error, '\n').front();
  const size_t at = first.find("error: ");
  std::string reason(at == std::string_view::npos ? first : first.substr(at + 7));
  if (record.error_kind == "no-match" && !record.passes.empty()) {
    // What the last pass lacks: of several, the first ones are often meant for other graphs.
    const std::string& diagnosis = record.passes.back().diagnosis;
    reason += ": " + std::string(split(diagnosis, '\n').front());
  }
  return reason.substr(0, kReasonBytes);
}

}  // namespace

double Agreement::share() const {
  const size_t compared = agreed + differing;
  return compared == 0 ? 1 : static_cast<double>(agreed) / static_cast<double>(compared);
}

std::string upstream_word(const RunRecord& record) {
  const auto [verdict, why] = record::judge_by_upstream(record);
  if (!verdict) return "";
  if (verdict->status != record::Status::Correct) return record::to_string(verdict->status);
  return verdict->correct_at(record::kCorrectT) ? "right" : "wrong";
}

Agreement agreement_of(const std::vector<RunRecord>& a, const std::vector<RunRecord>& b) {
  Agreement found;
  std::map<std::pair<std::string, std::string>, const RunRecord*> in_b;
  for (const RunRecord& record : b) in_b.emplace(std::pair(record.sample, record.graph), &record);
  std::map<std::tuple<std::string, std::string, std::string, std::string>, std::vector<std::string>> groups;
  for (const RunRecord& one : a) {
    const auto same = in_b.extract(std::pair(one.sample, one.graph));
    if (same.empty()) {
      ++found.alone;
      continue;
    }
    const RunRecord& other = *same.mapped();
    const std::string word = upstream_word(one), other_word = upstream_word(other);
    if (word.empty() || other_word.empty()) {
      ++found.not_judged;
    } else if (could_not_run(one) || could_not_run(other)) {
      ++found.not_run;
    } else if (word == other_word) {
      ++found.agreed;
    } else {
      ++found.differing;
      groups[{word, other_word, reason_of(one), reason_of(other)}].push_back(one.sample + "/" + one.graph);
    }
  }
  found.alone += in_b.size();
  for (auto& [key, graphs] : groups) {
    const auto& [word, other_word, reason, other_reason] = key;
    found.differences.push_back({word, other_word, reason, other_reason, std::move(graphs)});
  }
  std::ranges::stable_sort(found.differences, std::greater(),
                           [](const DifferenceGroup& group) { return group.graphs.size(); });
  return found;
}

void add(Agreement& sum, Agreement one) {
  sum.agreed += one.agreed;
  sum.differing += one.differing;
  sum.not_run += one.not_run;
  sum.not_judged += one.not_judged;
  sum.alone += one.alone;
  for (DifferenceGroup& group : one.differences) {
    const auto same = std::ranges::find_if(sum.differences, [&](const DifferenceGroup& known) {
      return std::tie(known.a, known.b, known.reason_a, known.reason_b) ==
             std::tie(group.a, group.b, group.reason_a, group.reason_b);
    });
    if (same == sum.differences.end())
      sum.differences.push_back(std::move(group));
    else
      same->graphs.insert(same->graphs.end(), group.graphs.begin(), group.graphs.end());
  }
  std::ranges::stable_sort(sum.differences, std::greater(),
                           [](const DifferenceGroup& group) { return group.graphs.size(); });
}

}  // namespace passnet::leaderboard
