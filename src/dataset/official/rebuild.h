// The official benchmark made anew from upstream's lists and its whole models.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "dataset/official/listing.h"
#include "dataset/official/official_graph.h"
#include "run/batch/job.h"

namespace passnet::dataset::official {

struct RebuildOptions {
  bool measure = false;  // run each whole model for figures of the values that pieces start from
  int jobs = 1;          // models at a time, each in a worker of its own
  double timeout_s = 120;
  const std::atomic<bool>* interrupted = nullptr;
};

/// What became of one listed graph: a line of manifest.jsonl.
struct GraphReport {
  std::string graph;  // its line
  Outcome outcome = Outcome::Cut;
  std::string why;                                          // it is not there, or its figures are not measured
  std::map<std::string, std::vector<std::string>> records;  // arguments by where their figures come from (Origin)
};
Json to_json(const GraphReport& report);

/// Writes, for the lists of `tasks`, OUT/graphs/…/{model.py, weight_meta.py, input_meta.py, graph_net.json,
/// graph_hash.txt}, OUT/tasks/ID/{graph_list.txt, …} with a link to the graphs, and OUT/manifest.jsonl, a GraphReport per
/// listed graph, sorted. Graphs that are there already are replaced, each as a whole.
/// models:   a checkout of GraphNet: a directory with samples/SOURCE/MODEL, or with SOURCE/MODEL.
/// finished: called for each listed graph, by one thread, sorted by model.
/// Errors:   Io; BadInput: `models` is no directory; Resource: interrupted, no worker.
Result<void> rebuild(const std::vector<Task>& tasks, const std::filesystem::path& models,
                     const std::filesystem::path& out, const RebuildOptions& options,
                     const std::function<void(const GraphReport&)>& finished);

}  // namespace passnet::dataset::official
