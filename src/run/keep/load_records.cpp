#include "run/keep/load_records.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/file/file.h"
#include "base/file/paths.h"
#include "base/text/lines.h"
#include "record/score/aggregated_score.h"
#include "record/session.h"
#include "run/keep/record_file.h"
#include "run/keep/run_directory.h"

namespace passnet::run {

Result<std::vector<fs::path>> find_record_files(const fs::path& path) {
  std::error_code failed;
  if (!directory_exists(path)) {
    if (entry_exists(path)) return std::vector<fs::path>{path};
    return bad_input(fmt::format("'{}' does not exist, expected a run's directory or a records.jsonl", path.string()));
  }
  const fs::path root = run_at(path);
  std::vector<fs::path> files;
  fs::recursive_directory_iterator entry(root, failed);
  for (; !failed && entry != fs::recursive_directory_iterator(); entry.increment(failed)) {
    if (entry->path().filename() == record::kRecordsFile) files.push_back(entry->path());
  }
  if (failed) return io_error("read", root.string(), failed.value());
  std::sort(files.begin(), files.end());
  if (!files.empty()) return files;
  return bad_input(fmt::format("no records.jsonl in or below '{}'", root.string()))
      .with_hint("name the directory of a run of 'passnet eval' (its --out), or a records.jsonl");
}

Result<const std::vector<record::SessionLine>*> RunSessions::of(const fs::path& run) {
  if (run_ != run) {
    run_.clear();
    PASSNET_TRY(lines_, load_sessions(run));
    run_ = run;
  }
  return &lines_;
}

Result<record::Chain> read_chain(const fs::path& file, const std::vector<record::SessionLine>& sessions,
                                 const UseRecord& use) {
  const fs::path directory = absolute_path(file).parent_path();
  record::Seal seal;
  const fs::path scored = directory / record::kScoreFile;
  if (!sessions.empty() && entry_exists(scored)) {
    PASSNET_TRY(const std::string score, read_beneath(directory, record::kScoreFile, FileKind::Lines));
    PASSNET_TRY(seal, record::seal_from_text(score, scored.string()));
  }
  const auto lines = [&](const UseLine& use_line) {
    return for_each_line_beneath(directory, file.filename(), use_line);
  };
  return record::check_chain({.sample = directory.filename().string(),
                              .file = file.string(),
                              .lines = lines,
                              .sessions = &sessions,
                              .seal = std::move(seal)},
                             use);
}

Result<record::Chain> read_whole_chain(const fs::path& file, RunSessions& sessions, const UseRecord& use) {
  PASSNET_TRY(const std::vector<record::SessionLine>* const lines,
              sessions.of(absolute_path(file).parent_path().parent_path()));
  PASSNET_TRY(record::Chain chain, read_chain(file, *lines, use));
  PASSNET_TRY_VOID(record::first_problem(chain));
  return chain;
}

Result<void> read_run(const fs::path& path, const UseRecord& use) {
  PASSNET_TRY(const std::vector<fs::path> files, find_record_files(path));
  bool any = false;
  RunSessions sessions;
  for (const fs::path& file : files) {
    PASSNET_TRY(const record::Chain chain, read_whole_chain(file, sessions, use));
    any = any || !chain.lines.empty();
  }
  if (!any) return bad_input(fmt::format("'{}' holds no finished record", path.string()));
  return {};
}

Result<std::vector<record::RunRecord>> load_run(const fs::path& path) {
  std::vector<record::RunRecord> records;
  PASSNET_TRY_VOID(read_run(path, [&](record::RunRecord record) { records.push_back(std::move(record)); }));
  return records;
}

}  // namespace passnet::run
