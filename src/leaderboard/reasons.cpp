#include "leaderboard/reasons.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "leaderboard/published.h"
#include "leaderboard/standing.h"
#include "record/upstream/upstream_rules.h"

namespace passnet::leaderboard {

namespace {

using record::RunRecord;
using record::Stage;

/// How a graph fails by upstream's rules, as far as it matters to a difference.
enum class Failure { None, Unmatched, Refused, BuildFailed, Broke, Wrong };

Failure failure_of(const RunRecord& record) {
  const auto [verdict, why] = record::judge_by_upstream(record);
  if (!verdict || verdict->correct_at(record::kCorrectT)) return Failure::None;
  if (record::is_unmatched(record) || record::is_declined(record)) return Failure::Unmatched;
  if (record.stage == Stage::Match) return Failure::Refused;
  if (record.stage <= Stage::Load) return Failure::BuildFailed;
  return verdict->status == record::Status::RuntimeFail ? Failure::Broke : Failure::Wrong;
}

constexpr std::array kWords = {
    std::pair{Failure::Unmatched, "matched by no pass here"},
    std::pair{Failure::Refused, "refused by our reader of passes"},
    std::pair{Failure::BuildFailed, "a kernel does not compile or load here"},
    std::pair{Failure::Broke, "crashed or hung here"},
    std::pair{Failure::Wrong, "wrong here"},
};

/// "3 of 12: wrong here", the most graphs first.
std::vector<std::string> failures_of(const std::vector<RunRecord>& records) {
  std::vector<std::pair<long, std::string>> counted;
  for (const auto& [failure, words] : kWords) {
    const auto count = std::ranges::count(records, failure, failure_of);
    if (count > 0) counted.emplace_back(count, fmt::format("{} of {}: {}", count, records.size(), words));
  }
  std::ranges::stable_sort(counted, std::greater(), &std::pair<long, std::string>::first);
  std::vector<std::string> phrases;
  for (auto& [count, phrase] : counted) phrases.push_back(std::move(phrase));
  return phrases;
}

}  // namespace

std::vector<std::string> reasons_of(const std::vector<RunRecord>& records, std::optional<double> upstream,
                                    std::optional<double> published) {
  if (!upstream || !published) return {};
  const double floored = std::max(*published, kTaskFloor);
  if (std::max(*upstream, floored) < kSameScore * std::min(*upstream, floored)) return {};
  std::vector<std::string> failures = failures_of(records);
  if (*upstream < floored) {
    if (failures.empty()) return {"another GPU: all right here too, with smaller ratios"};
    return failures;
  }
  const auto applied = std::ranges::count_if(records, record::is_applied);
  if (*published < kTaskFloor) return {fmt::format("the run failed there: a score of {}", *published)};
  // What crashes or is wrong is forgiven at some t, so that it scores more.
  if (*published <= kTaskFloor * (1 + 1e-9) && applied > 0)
    return {fmt::format("matched more: {} of {} here, nothing matched or compiled there", applied, records.size())};
  if (failures.empty()) return {"all right here; another GPU, or failures there"};
  return {"another GPU, or fewer failures here"};
}

}  // namespace passnet::leaderboard
