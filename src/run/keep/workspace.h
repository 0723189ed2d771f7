// The place where upstream's tools look for the outcome of a sample: a directory of two fixed files, whoever ran last.
#pragma once

#include <filesystem>
#include <vector>

#include "base/result.h"
#include "record/record.h"

namespace passnet::run {

inline constexpr const char* kWorkspaceLog = "validation.log";
inline constexpr const char* kWorkspaceScore = "aggregated_score.json";

/// Removes what an earlier run left there, before a new one begins: whatever becomes of that, no old score stands for it.
/// Errors: Io.
Result<void> clear_workspace(const std::filesystem::path& directory);

/// The log of all records and then the score, each whole or not at all. The score is {"id": 1, "score": …} as upstream's
/// aggregator of PassBench writes it (1.0 = eager), with how many graphs it is of and the directory of the run.
/// records: all of them count, or are left out of the score for what they are (record::left_out).
/// Errors:  Io; Resource: one that the machine kept from being evaluated, or none that counts, so that there is a log and
///          no score.
Result<void> write_workspace(const std::filesystem::path& directory, const std::vector<record::RunRecord>& records,
                             const std::filesystem::path& run);

}  // namespace passnet::run
