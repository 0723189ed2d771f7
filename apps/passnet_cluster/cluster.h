// The commands for several machines: `passnet merge`, `queue`, `work` and `submit`.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json.h"
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
/// The outputs of shards, or the results of a queue, as one directory. Returns: what `passnet merge --json` prints.
Result<Json> merge(const MergeFlags& flags);
/// That for people.
void say_merged(const Json& merged);

/// What `passnet queue status --json` prints, and a line of it.
Json to_json(const cluster::QueueStatus& status);
std::string line_of(const cluster::QueueStatus& status);

}  // namespace passnet::cli
