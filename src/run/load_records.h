// Records as commands read them: those of a file, or of all files of a run, with their chains checked.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "record/chain.h"
#include "record/record.h"

namespace passnet::run {

/// The records.jsonl files of a run, in order of path: `path` itself when it is a file, those in or below a directory;
/// of a directory of runs, those of its latest. Errors: BadInput (there are none).
Result<std::vector<std::filesystem::path>> find_record_files(const std::filesystem::path& path);

/// A records.jsonl, against run.jsonl of the run it lies in and aggregated_score.json beside it.
/// Errors: Io; BadInput (one of the three cannot be read).
Result<record::Chain> load_chain(const std::filesystem::path& file);
/// The same where nothing may be wrong. Errors: also record::first_problem.
Result<record::Chain> load_whole_chain(const std::filesystem::path& file);

/// All records of a run. Errors: as find_record_files and load_whole_chain; BadInput (no record).
Result<std::vector<record::RunRecord>> load_run(const std::filesystem::path& path);

}  // namespace passnet::run
