// Runs of the agent beside each other.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace passnet::agent {

/// What a run came to, of its results.json.
struct RunRow {
  std::string run;  // its directory
  size_t tasks = 0, attempts = 0;
  double score = 1;    // geometric mean of the winners as they were measured again; 1 = eager
  double correct = 0;  // share of tasks whose winner is right on all graphs, or left them alone
  double fast_1 = 0;   // share of tasks whose winner is faster than eager
  double pass_at_1 = 0;
  int k = 1;  // attempts at each task
  double pass_at_k = 0;
  double steps = 0;  // of an attempt, on average
  int64_t tokens = 0, cached = 0;
  double cost = 0;            // dollars
  double seconds = 0;         // of the model and of tools, of all attempts
  double device_seconds = 0;  // of these: of evaluations, while they had the device or a part in it
  double gains = 0;           // tasks that became faster
  /// Of what was spent, for each task that became faster; 0 where none did.
  double per_gain(double spent) const { return gains > 0 ? spent / gains : 0; }
  bool interrupted = false;
};

/// run: the --out of `agent run`. Errors: Io; BadInput: no results of a run.
Result<RunRow> load_run_row(const std::filesystem::path& run);

/// For the terminal, the best score first.
std::string render_table(std::vector<RunRow> rows);
Json to_json(const RunRow& row);

}  // namespace passnet::agent
