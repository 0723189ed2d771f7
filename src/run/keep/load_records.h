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

/// A records.jsonl, one record in memory at a time, against run.jsonl of the run it lies in and aggregated_score.json
/// beside it. Errors: Io; BadInput (one of the three cannot be read).
Result<record::Chain> read_chain(const std::filesystem::path& file, const UseRecord& use);
/// The same where nothing may be wrong: until it returns, what `use` was given may be. Errors: also
/// record::first_problem.
Result<record::Chain> read_whole_chain(const std::filesystem::path& file, const UseRecord& use);

/// All records of a run. Errors: as find_record_files and read_whole_chain; BadInput (no record).
Result<void> read_run(const std::filesystem::path& path, const UseRecord& use);
Result<std::vector<record::RunRecord>> load_run(const std::filesystem::path& path);

}  // namespace passnet::run
