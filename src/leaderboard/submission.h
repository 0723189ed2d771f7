// What one model submitted: a directory of tasks, each with passes and the score that was published for them.
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"

namespace passnet::leaderboard {

struct Submission {
  std::filesystem::path path;
  std::string model;  // the directory's name
};

/// Errors: BadInput (no directory, or none in it; two of one name).
Result<std::vector<Submission>> find_submissions(const std::vector<std::string>& paths);

/// The task's graphs with the model's passes: those of TASK, or of TASK/pass_dir where there is one. A task that the model did not submit has a pass_dir that is not there:
/// each of its graphs is then evaluated to a failure that says so.
graphdir::Sample with_passes(graphdir::Sample task, const Submission& submission);

/// score.txt of the task; none when there is no such file. Errors: Io; BadInput (no number).
Result<std::optional<double>> published_score(const Submission& submission, const std::string& task);

}  // namespace passnet::leaderboard
