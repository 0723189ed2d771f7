#include "agent/training/attempts.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "agent/attempt/attempt.h"
#include "agent/trajectory/trajectory.h"
#include "analysis/identity.h"
#include "base/file/file.h"
#include "base/file/paths.h"

namespace passnet::agent {

namespace {

/// What ends an attempt, of its trajectory.jsonl; "" where there is none.
Result<std::string> exit_reason_in(const fs::path& directory) {
  const fs::path file = directory / kTrajectoryFile;
  if (!entry_exists(file)) return std::string();
  PASSNET_TRY(const std::string text, read_beneath(directory, kTrajectoryFile, FileKind::Lines));
  PASSNET_TRY(const Json trajectory, parse_json(text, file.string()));
  const auto reason = trajectory.is_object() ? trajectory.find("exit_reason") : trajectory.end();
  if (reason == trajectory.end() || !reason->is_string())
    return bad_input("no 'exit_reason', expected a trajectory of an attempt", SourceLoc{file.string(), 0, 0});
  return reason->get<std::string>();
}

/// Whether --resume has something left to do there.
bool goes_on_with(const std::string& reason) {
  return reason.empty() || reason == exit_reason::kInterrupted || reason == exit_reason::kModel;
}

std::vector<fs::path> directories_with(const fs::path& root, const std::string& file) {
  std::vector<fs::path> found;
  std::error_code failed;
  for (fs::recursive_directory_iterator at(root, failed), end; !failed && at != end; at.increment(failed)) {
    if (at->path().filename() == file) found.push_back(at->path().parent_path());
  }
  std::ranges::sort(found);
  return found;
}

Result<void> add(const fs::path& directory, FoundAttempts& found) {
  PASSNET_TRY(const std::string reason, exit_reason_in(directory));
  if (goes_on_with(reason)) {
    ++found.unfinished;
    return {};
  }
  const fs::path file = directory / kCompletionsFile;
  PASSNET_TRY(const std::string text, read_beneath(directory, kCompletionsFile, FileKind::Lines));
  PASSNET_TRY(Completions completions, completions_from_text(file.string(), text));
  if (!completions.facts)
    return bad_input("it does not begin with the facts of its attempt", SourceLoc{file.string(), 1, 0});
  TrainingAttempt one{std::move(*completions.facts), conversation_of(completions.steps), 1, reason};
  std::map<std::string, std::string> files;
  if (const Evaluation* const best = best_of(completions.steps)) {
    one.score = best->outcome.score;
    PASSNET_TRY(files, files_of(directory / kEvaluationsDir / best->name / kPassDir));
  }
  one.steps = std::move(completions.steps);
  found.attempts.push_back(std::move(one));
  found.files.push_back(std::move(files));
  found.graphs.push_back(directories_with(directory / "workspace", "model.py"));
  return {};
}

}  // namespace

Result<FoundAttempts> find_attempts(const fs::path& run) {
  if (!directory_exists(run))
    return bad_input(fmt::format("'{}' is no directory, expected the --out of 'agent run'", run.string()));
  FoundAttempts found;
  for (const fs::path& directory : directories_with(run, kCompletionsFile)) PASSNET_TRY_VOID(add(directory, found));
  if (found.attempts.empty() && found.unfinished == 0) {
    return bad_input(fmt::format("no attempt below '{}', expected directories with {}", run.string(), kCompletionsFile))
        .with_hint("give the --out of 'passnet agent run'");
  }
  return found;
}

Result<std::set<std::string>> computations_of(const std::vector<fs::path>& graphs) {
  std::set<std::string> computations;
  for (const fs::path& path : graphs) {
    PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(path));
    computations.insert(analysis::identity_hash(graph.graph));
  }
  return computations;
}

}  // namespace passnet::agent
