// Parts of a list that several machines worked through, made one directory: runs of `passnet eval` with their chains, or
// the output of commands that keep no chain.
#pragma once

#include <cstddef>
#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::cluster {

struct MergeRequest {
  std::vector<std::filesystem::path> runs;
  std::filesystem::path out;  // new, or empty
  bool latest = false;        // of a sample in several runs, take the one whose last record was started last
};

struct Merged {
  size_t runs = 0, samples = 0, records = 0;
  std::map<std::string, std::filesystem::path> left;  // with latest: samples, and a run whose records were not taken
  std::vector<std::string> missing;                   // shards that no run is of: "3/8"
};

/// Makes one run of many. Each run's lines of run.jsonl stay as they are; a line that joins them follows
/// (record/session.h). The records are checked against their chains, and written as they were read.
/// Errors: BadInput: no run, a broken chain, records without one, a sample in two runs (without latest), runs of other
///         versions, hardware or options; Resource: a run is being written; Io. Nothing is at `out` after an error.
Result<Merged> merge_runs(const MergeRequest& request);

/// Makes one directory of many whose files lie at other paths: outputs of `author`, `agent run` and `dataset`. Journals,
/// *.jsonl at the top, are put one behind the other. Other files at the top, and lists, differ from part to part: they
/// are left out, and the command writes them when it goes on with `out`.
/// Returns: the files that were left out.
/// Errors: BadInput: two files at one path that differ; Io. Nothing is at `out` after an error.
Result<std::vector<std::string>> merge_trees(const MergeRequest& request);

}  // namespace passnet::cluster
