// The tasks of a benchmark: which graphs each has, and where these lie.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"

namespace passnet::leaderboard {

/// A task as a sample without passes; its name is the task's.
struct TaskSet {
  struct Unusable {
    std::string task;
    std::string why;
  };
  std::vector<graphdir::Sample> tasks;  // sorted by name
  std::vector<Unusable> unusable;       // listed, but its list or a graph in it cannot be had
};

/// directory: one that 'passnet dataset official' wrote (with tasks/), a directory of sample directories, or one of
///            TASK.txt lists, whose lines name graphs below `graphs` (with or without a first part "graphs/").
/// graphs:    for TASK.txt lists alone; else empty.
/// Errors: BadInput (there is no task; lists without `graphs`, or `graphs` without lists; two tasks of one name); Io.
Result<TaskSet> load_tasks(const std::filesystem::path& directory, const std::filesystem::path& graphs);

/// The first `limit` (0: all) of the tasks whose name holds `part`. Errors: BadInput (there is none).
Result<TaskSet> select_tasks(TaskSet all, const std::string& part, int limit);

}  // namespace passnet::leaderboard
