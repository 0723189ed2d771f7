#include "leaderboard/submission.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/strings.h"
#include "leaderboard/published.h"

namespace passnet::leaderboard {

namespace {

bool holds_directories(const fs::path& path) {
  std::error_code failed;
  for (fs::directory_iterator entry(path, failed), end; !failed && entry != end; entry.increment(failed)) {
    if (entry->is_directory(failed)) return true;
  }
  return false;
}

}  // namespace

Result<std::vector<Submission>> find_submissions(const std::vector<std::string>& paths) {
  std::vector<Submission> found;
  for (const std::string& given : paths) {
    std::error_code failed;
    const fs::path path = fs::weakly_canonical(given, failed);
    if (!directory_exists(path) || !holds_directories(path)) {
      return bad_input(fmt::format("{} is no submission, expected a directory with one of passes per sample",
                                   quoted(given, 400)))
          .with_hint("its name is the model's, and the names in it are those of samples");
    }
    const std::string model = path.filename().string();
    if (std::ranges::count(found, model, &Submission::model) > 0)
      return bad_input(fmt::format("two submissions are named {}", quoted(model, 100)));
    found.push_back({path, model});
  }
  return found;
}

graphdir::Sample with_passes(graphdir::Sample task, const Submission& submission) {
  const fs::path own = submission.path / task.name;
  task.roots.push_back(submission.path);
  task.pass_dir = directory_exists(own / "pass_dir") ? own / "pass_dir" : own;
  return task;
}

Result<std::optional<double>> published_score(const Submission& submission, const std::string& task) {
  const fs::path below = fs::path(task) / "score.txt", file = submission.path / below;
  if (!entry_exists(file)) return std::optional<double>();
  PASSNET_TRY(const std::string text, read_beneath(submission.path, below, FileKind::Line));
  PASSNET_TRY(const double score, parse_score(text, file.string()));
  return std::optional(score);
}

}  // namespace passnet::leaderboard
