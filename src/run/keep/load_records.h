// Records as commands read them, one at a time: those of a file, or of all files of a run, with their chains checked.
#pragma once

#include <filesystem>
#include <functional>
#include <vector>

#include "base/result.h"
#include "record/chain.h"
#include "record/record.h"

namespace passnet::run {

/// The records.jsonl files of a run, in order of path: `path` itself when it is a file, those in or below a directory;
/// of a directory of runs, those of its latest. Errors: BadInput (there are none).
Result<std::vector<std::filesystem::path>> find_record_files(const std::filesystem::path& path);

using UseRecord = std::function<void(record::RunRecord record)>;

/// The sessions of the run that was asked for last: files of one run follow each other, and its run.jsonl is read once.
class RunSessions {
 public:
  /// Errors: as load_sessions.
  Result<const std::vector<record::SessionLine>*> of(const std::filesystem::path& run);

 private:
  std::filesystem::path run_;
  std::vector<record::SessionLine> lines_;
};

/// A records.jsonl, one record in memory at a time, against the sessions of its run and aggregated_score.json beside it.
/// Errors: Io; BadInput (one of the two cannot be read).
Result<record::Chain> read_chain(const std::filesystem::path& file, const std::vector<record::SessionLine>& sessions,
                                 const UseRecord& use);
/// The same against the run it lies in, where nothing may be wrong: until it returns, what `use` was given may be.
/// Errors: also of RunSessions and record::first_problem.
Result<record::Chain> read_whole_chain(const std::filesystem::path& file, RunSessions& sessions, const UseRecord& use);

/// All records of a run. Errors: as find_record_files and read_whole_chain; BadInput (no record).
Result<void> read_run(const std::filesystem::path& path, const UseRecord& use);
Result<std::vector<record::RunRecord>> load_run(const std::filesystem::path& path);

}  // namespace passnet::run
