// Samples as tasks of Harbor (task.toml of schema 1.4): an agent's container, a verifier's container and a solution for each,
// and an index of the dataset. Source: docs/harbor.md; Harbor 0.26, models/task/config.py and models/registry.py.
#pragma once

#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/graph_tree.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

struct HarborOptions {
  std::filesystem::path passes = {};  // solutions: PASSES/NAME/pass_dir before the sample's own; empty: those alone
  std::string image = {};             // that all containers begin with, "passnet:0.2.0"
  bool on_gpu = false;
  graphdir::TreeOptions tree = {};
};

struct HarborReport {
  size_t tasks = 0;
  size_t solved = 0;  // with a solution
};

/// Writes the samples below `out`: tasks/NAME, registry.json, eval.yaml, data/tasks.jsonl, README.md. Equal samples and options
/// give equal bytes.
/// out:      must be empty or not exist.
/// counted:  called after each task, with its name.
/// Errors:   BadInput: `out` is not empty, a sample of a name that Harbor refuses, a solution with a directory; of graphs, as
///           load_graph_dir; Io; Resource: interrupted.
Result<HarborReport> export_harbor(const std::vector<graphdir::Sample>& samples, const std::filesystem::path& out,
                                   const HarborOptions& options,
                                   const std::function<void(const std::string& name)>& counted);

}  // namespace passnet::dataset
