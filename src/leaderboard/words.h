// The cells of leaderboards, the same in a terminal and on a page; not yet made fit for either.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "leaderboard/standing.h"

namespace passnet::leaderboard {

/// Headings and cells; the first column is text, the others are figures, but for the last of task_row.
std::vector<std::string> model_headings();
std::vector<std::string> model_row(const ModelStanding& model);
std::vector<std::string> task_headings();
std::vector<std::string> task_row(const TaskStanding& task);

/// "Spearman 0.93, Kendall 0.83"; "no order to compare" for none.
std::string correlation_text(const std::optional<RankCorrelation>& found);

/// What the columns mean, a sentence each.
std::vector<std::string> notes();

}  // namespace passnet::leaderboard
