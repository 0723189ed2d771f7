// A leaderboard for a terminal, for machines and as a page.
#pragma once

#include <string>
#include <vector>

#include "leaderboard/standing.h"
#include "leaderboard/tasks.h"

namespace passnet::leaderboard {

/// Tables of models and of tasks that score other than published, with the reasons; rank correlations; tasks that could
/// not be used. Ends with a newline; foreign text is made visible.
std::string render_text(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable);

/// docs/schemas/leaderboard_score.json; ends with a newline.
std::string render_json(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable);

/// One self-contained page with every task. All text is escaped.
std::string render_html(const Leaderboard& board, const std::vector<TaskSet::Unusable>& unusable);

}  // namespace passnet::leaderboard
