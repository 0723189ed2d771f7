// The commands for several machines: `passnet merge`, `queue`, `work` and `submit`.
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "cluster/queue.h"

namespace CLI {
class App;
}

namespace passnet::cli {

void add_merge(CLI::App& app, int& exit_code);
void add_queue(CLI::App& app, int& exit_code);
void add_work(CLI::App& app, int& exit_code);
void add_submit(CLI::App& app, int& exit_code);

struct MergeFlags {
  std::vector<std::string> runs;
  std::string out;
  bool latest = false;
};
/// Merges the outputs of shards, or the results of a queue, into one directory. Returns: the JSON of `passnet merge --json`.
Result<Json> merge(const MergeFlags& flags);
/// Prints the same as lines of text.
void say_merged(const Json& merged);

/// The state of a queue as one line of text.
std::string line_of(const cluster::QueueStatus& status);

}  // namespace passnet::cli
