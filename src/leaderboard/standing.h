// Records of whole submissions -> what each model and task scores by our rules and by upstream's, beside what was
// published, and why they differ. Pure: nothing is read or run here.
// Source: docs/leaderboard.md.
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "leaderboard/rank.h"
#include "record/record.h"
#include "record/score/summary.h"

namespace passnet::leaderboard {

/// What there is to stand on: the records of one model's passes on one task.
struct TaskRecords {
  std::string task;
  size_t graphs = 0;  // that the task lists; each should have a record
  std::vector<record::RunRecord> records;
  std::optional<double> published;  // score.txt; none: the submission has none
};
struct ModelRecords {
  std::string model;
  std::vector<TaskRecords> tasks;
};

/// The same records under each set of rules, with PassBench's weights; none where no graph counts.
struct Scores {
  std::optional<double> ours;        // passbench_score of 'passnet score'
  std::optional<double> unforgiven;  // ours, no failure forgiven
  std::optional<double> upstream;    // by upstream's rules
  std::optional<double> published;
};

/// Graphs that a score leaves out, and why.
struct LeftOutCounts {
  size_t ours = 0;         // record::left_out says why
  size_t untimed = 0;      // by upstream's rules: right, and never timed
  size_t uncompared = 0;   // by upstream's rules: ended by a check that upstream lacks
  size_t unevaluated = 0;  // by both: kept from being evaluated by the machine, or without a record
};

struct TaskStanding {
  std::string task;
  size_t graphs = 0;
  record::Summary summary;
  Scores scores;
  LeftOutCounts left_out;
  std::map<std::string, int> caught;  // right by upstream's rules and not by ours: the word of ours, and how many
  std::vector<std::string> reasons;   // why the published score differs; empty: it does not, or there is none
};

struct ModelStanding {
  std::string model;
  std::vector<TaskStanding> tasks;
  record::Summary summary;  // over all graphs of all tasks
  Scores scores;            // of tasks (leaderboard::model_score); published: of the score.txt of the same tasks
  std::optional<double> published_table;  // the published headline, over all 200 tasks
  LeftOutCounts left_out;
  std::optional<RankCorrelation> ours, upstream;  // with published, over the tasks that have both
};

struct Leaderboard {
  std::vector<ModelStanding> models;              // the best by our rules first
  std::optional<RankCorrelation> ours, upstream;  // with published, over the models
};

/// Two scores that are less than this apart are called the same.
inline constexpr double kSameScore = 1.1;

Leaderboard rank_models(const std::vector<ModelRecords>& models);

}  // namespace passnet::leaderboard
