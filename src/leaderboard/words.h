// The cells of leaderboards, the same in a terminal and on a page; not yet made fit for either.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leaderboard/standing.h"

namespace passnet::leaderboard {

/// Headings and cells; the first column is text, the others are figures, but for the last of task_row.
/// beside_published: with the columns of published scores.
std::vector<std::string> model_headings(bool beside_published);
std::vector<std::string> model_row(const ModelStanding& model, bool beside_published);
std::vector<std::string> task_headings(bool beside_published);
std::vector<std::string> task_row(const TaskStanding& task, bool beside_published);

/// Tells whether any task or model has a published score.
bool has_published(const Leaderboard& board);

/// "ranks of samples beside published: ours Spearman 0.93, Kendall 0.83; PassBench's rules none"; "" where neither side
/// has ranks to compare. of: "tasks" or "models".
std::string ranks_text(const char* of, const std::optional<RankCorrelation>& ours,
                       const std::optional<RankCorrelation>& upstream);

/// What the columns mean, a sentence each.
std::vector<std::string> notes(bool beside_published);

}  // namespace passnet::leaderboard
