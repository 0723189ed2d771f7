// What PassBench's leaderboard published: the headline of each model, and how it comes from scores of tasks.
#pragma once

#include <optional>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace passnet::leaderboard {

/// The table of 29 May 2026, of an NVIDIA A30.
struct PublishedModel {
  std::string_view name;  // as its submission's directory is called
  double score = 0;       // AS
};
/// None for a model that is not in the table.
std::optional<PublishedModel> published_model(std::string_view name);

/// What a task counts that has no score, or a smaller one (a run that failed).
inline constexpr double kTaskFloor = 0.1;

/// The score of a model from those of all its tasks: their geometric mean, none and what is below kTaskFloor counting
/// that. None without a task.
/// Source: docs/leaderboard.md, "A model's score": gives the published order, and each entry within 6.4 %.
std::optional<double> model_score(const std::vector<std::optional<double>>& tasks);

/// The number in a score.txt. file: names the text in messages. Errors: BadInput (no number, or a negative one).
Result<double> parse_score(std::string_view text, const std::string& file);

}  // namespace passnet::leaderboard
