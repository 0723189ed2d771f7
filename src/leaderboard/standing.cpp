#include "leaderboard/standing.h"

#include <algorithm>

#include "leaderboard/published.h"
#include "leaderboard/reasons.h"
#include "record/score/score.h"
#include "record/upstream/upstream_rules.h"

namespace passnet::leaderboard {

namespace {

using record::NotJudged;
using record::RunRecord;

/// A score over no graph is none.
std::optional<double> scored(const std::vector<record::Verdict>& verdicts, const record::ScoreOptions& options) {
  return verdicts.empty() ? std::nullopt : std::optional(record::score(verdicts, options).passbench);
}

/// By upstream's rules; notes what they leave out, and what our rules caught.
std::vector<record::Verdict> judge_by_upstream(const std::vector<RunRecord>& records, TaskStanding& standing) {
  std::vector<record::Verdict> verdicts;
  for (const RunRecord& record : records) {
    const record::UpstreamVerdict judged = record::judge_by_upstream(record);
    standing.left_out.untimed += judged.why == NotJudged::Untimed;
    standing.left_out.uncompared += judged.why == NotJudged::Uncompared;
    standing.left_out.unevaluated += judged.why == NotJudged::MachineFailed;
    if (!judged.verdict) continue;
    verdicts.push_back(*judged.verdict);
    const bool right_there = judged.verdict->correct_at(record::kCorrectT);
    const bool right_here = record::counts(record) && record::judge(record).correct_at(record::kCorrectT);
    if (right_there && !right_here && !record.disturbed && !record::ran_host_code(record))
      ++standing.caught[record::headline(record)];
  }
  return verdicts;
}

TaskStanding stand(const TaskRecords& task) {
  TaskStanding standing;
  standing.task = task.task;
  standing.graphs = task.graphs;
  standing.summary = record::summary_of(task.records);
  standing.left_out.unevaluated = task.graphs - std::min(task.graphs, task.records.size());
  const std::vector<record::Verdict> verdicts = record::judge_all(task.records);
  standing.scores.ours = scored(verdicts, {});
  if (!verdicts.empty()) standing.scores.unforgiven = standing.summary.unforgiven.passbench;
  standing.scores.upstream = scored(judge_by_upstream(task.records, standing), record::kUpstreamScore);
  standing.scores.published = task.published;
  standing.left_out.ours = static_cast<size_t>(std::ranges::count_if(task.records, [](const RunRecord& record) {
    return !record::counts(record) && !record::is_environment_failure(record);
  }));
  standing.reasons = reasons_of(task.records, standing.scores.upstream, standing.scores.published);
  return standing;
}

using OneScore = std::optional<double> Scores::*;

/// Over the tasks that have one: what is left out of a task's score is left out here.
std::optional<double> score_over(const std::vector<TaskStanding>& tasks, OneScore which) {
  std::vector<std::optional<double>> known;
  for (const TaskStanding& task : tasks) {
    if (task.scores.*which) known.push_back(task.scores.*which);
  }
  return model_score(known);
}

/// A task without score.txt counts the floor, as in the published headline; none where no task has one.
std::optional<double> published_over(const std::vector<TaskStanding>& tasks) {
  std::vector<std::optional<double>> all;
  for (const TaskStanding& task : tasks) all.push_back(task.scores.published);
  const bool any = std::ranges::any_of(all, [](const auto& one) { return one.has_value(); });
  return any ? model_score(all) : std::nullopt;
}

/// Over those of `all` that have both scores.
template <class Standing>
std::optional<RankCorrelation> correlation(const std::vector<Standing>& all, OneScore which) {
  std::vector<double> here, there;
  for (const Standing& one : all) {
    if (!(one.scores.*which) || !one.scores.published) continue;
    here.push_back(*(one.scores.*which));
    there.push_back(*one.scores.published);
  }
  return rank_correlation(here, there);
}

void add(LeftOutCounts& sum, const LeftOutCounts& one) {
  sum.ours += one.ours;
  sum.untimed += one.untimed;
  sum.uncompared += one.uncompared;
  sum.unevaluated += one.unevaluated;
}

ModelStanding stand(const ModelRecords& model) {
  ModelStanding standing;
  standing.model = model.model;
  std::vector<RunRecord> all;
  for (const TaskRecords& task : model.tasks) {
    standing.tasks.push_back(stand(task));
    add(standing.left_out, standing.tasks.back().left_out);
    all.insert(all.end(), task.records.begin(), task.records.end());
  }
  standing.summary = record::summary_of(all);
  standing.scores.ours = score_over(standing.tasks, &Scores::ours);
  standing.scores.unforgiven = score_over(standing.tasks, &Scores::unforgiven);
  standing.scores.upstream = score_over(standing.tasks, &Scores::upstream);
  standing.scores.published = published_over(standing.tasks);
  if (const auto known = published_model(model.model)) standing.published_table = known->score;
  standing.ours = correlation(standing.tasks, &Scores::ours);
  standing.upstream = correlation(standing.tasks, &Scores::upstream);
  return standing;
}

}  // namespace

Leaderboard rank_models(const std::vector<ModelRecords>& models) {
  Leaderboard board;
  for (const ModelRecords& model : models) board.models.push_back(stand(model));
  std::ranges::stable_sort(board.models, std::greater(),
                           [](const ModelStanding& one) { return one.scores.ours.value_or(0); });
  board.ours = correlation(board.models, &Scores::ours);
  board.upstream = correlation(board.models, &Scores::upstream);
  return board;
}

}  // namespace passnet::leaderboard
