#include "record/score/summary.h"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "record/library_calls.h"
#include "record/stats.h"

namespace passnet::record {

namespace {

WeightedScore weighted(const Score& score) { return {score.aggregated_linear, score.passbench}; }

Json to_json(const WeightedScore& score) {
  return {{"score_linear", score.linear}, {"passbench_score", score.passbench}};
}

std::optional<Reach::Library> library_of(const std::vector<Counted>& records, const ScoreOptions& options) {
  Reach::Library library;
  bool any = false;
  std::vector<Verdict> verdicts;
  for (const Counted& record : records) {
    verdicts.push_back(record.refused.value_or(record.verdict));
    if (!record.refused) continue;
    any = true;
    if (!record.verdict.correct_at(kCorrectT)) continue;
    ++library.correct;
    if (record.replay) ++library.replayed;
  }
  if (!any) return std::nullopt;
  library.refused = weighted(score(verdicts, options));
  return library;
}

Reach reach_of(const std::vector<Counted>& records, const ScoreOptions& options) {
  Reach reach;
  reach.library = library_of(records, options);
  std::vector<double> speedups;
  std::vector<Verdict> verdicts;
  for (const Counted& record : records) {
    const Verdict& verdict = verdicts.emplace_back(record.verdict);
    if (record.applied) {
      ++reach.applied;
      if (verdict.correct_at(kCorrectT) && verdict.speedup > 0) speedups.push_back(verdict.speedup);
    } else if (record.declined) {
      ++reach.declined;
    } else if (record.unmatched) {
      ++reach.unmatched;
      verdicts.back() = {Status::Correct, kFirstT, 1};
    }
  }
  if (!speedups.empty()) reach.speedup_applied = geometric_mean(speedups);
  reach.abstaining = weighted(score(verdicts, options));
  return reach;
}

}  // namespace

bool is_applied(const RunRecord& record) {
  return std::ranges::any_of(record.passes, [](const PassOutcome& pass) { return pass.matches > 0; });
}

bool is_unmatched(const RunRecord& record) {
  if (record.error_kind == "no-match") return true;
  const bool no_pass = record.provenance && record.provenance->passes.empty();
  return record.compiler == "passes" && record.stage == Stage::Match && no_pass;
}

Summary summary_of(const std::vector<Verdict>& verdicts, const ScoreOptions& options) {
  Summary summary;
  summary.total = static_cast<int>(verdicts.size());
  for (const Verdict& verdict : verdicts) {
    if (!verdict.correct_at(kCorrectT)) continue;
    ++summary.correct;
    if (verdict.speedup > 1) ++summary.fast;
  }
  ScoreOptions strict = options;
  strict.forgiving = false;
  summary.unforgiven = weighted(score(verdicts, strict));
  return summary;
}

Counted counted(const RunRecord& record) {
  Counted found;
  found.verdict = judge(record);
  if (has_library_calls(record)) found.refused = judge(with_calls_refused(record));
  found.applied = is_applied(record);
  found.declined = is_declined(record);
  found.unmatched = is_unmatched(record);
  found.replay = is_replay(record);
  return found;
}

Summary summary_of(const std::vector<Counted>& records, const ScoreOptions& options) {
  std::vector<Verdict> verdicts;
  for (const Counted& record : records) verdicts.push_back(record.verdict);
  Summary summary = summary_of(verdicts, options);
  summary.reach = reach_of(records, options);
  return summary;
}

Summary summary_of(const std::vector<RunRecord>& records, const ScoreOptions& options) {
  std::vector<Counted> all;
  for (const RunRecord& record : records) {
    if (counts(record)) all.push_back(counted(record));
  }
  return summary_of(all, options);
}

double abstaining_score(const std::vector<RunRecord>& records) {
  std::vector<Counted> all;
  for (const RunRecord& record : records) {
    if (!counts(record)) continue;
    Counted& one = all.emplace_back(counted(record));
    const bool is_untimed = record.reference.trials_us.empty() && record.candidate.trials_us.empty();
    if (is_untimed && one.verdict.status == Status::Correct) one.verdict.speedup = 1;
  }
  const Summary summary = summary_of(all, {});
  return summary.total > 0 ? summary.reach->abstaining.linear : 1;
}

Json to_json(const Summary& summary) {
  Json json{{"total", summary.total},
            {"correct_share", summary.share(summary.correct)},
            {"fast_1", summary.share(summary.fast)},
            {"unforgiven", to_json(summary.unforgiven)},
            {"coverage", Json()},
            {"speedup_where_applied", Json()},
            {"declined", Json()},
            {"unmatched", Json()},
            {"abstaining", Json()}};
  if (!summary.reach) return json;
  const Reach& reach = *summary.reach;
  json["coverage"] = summary.share(reach.applied);
  if (reach.speedup_applied) json["speedup_where_applied"] = *reach.speedup_applied;
  json["declined"] = reach.declined;
  json["unmatched"] = reach.unmatched;
  json["abstaining"] = to_json(reach.abstaining);
  if (const auto& library = reach.library)
    json["library"] = {
        {"correct", library->correct}, {"replayed", library->replayed}, {"refused", to_json(library->refused)}};
  return json;
}

}  // namespace passnet::record
