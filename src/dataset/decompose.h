// Whole graphs -> unique subgraphs on disk. Source: docs/dataset.md, "Decompose", and
// docs/dataset-format.md, "Differences from PassBench".
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "base/shard.h"
#include "dataset/pieces/typical.h"
#include "graphdir/kind.h"

namespace passnet::dataset {

struct DecomposeOptions {
  std::vector<graphdir::Kind> kinds{graphdir::kKinds.begin(), graphdir::kKinds.end()};
  TypicalOptions typical;
  Shard shard = {};     // of the whole graphs, by their names
  bool measure = true;  // run each whole graph for statistics of the values that pieces start from; else types alone
  int jobs = 1;         // whole graphs at a time, each in a worker of its own
  double timeout_s = 120;
  const std::atomic<bool>* interrupted = nullptr;
};

/// What became of one whole graph.
struct WholeReport {
  std::string graph;                       // path relative to the root it was found under
  std::string error;                       // why it gave nothing; empty when it was decomposed
  std::string not_measured;                // why its values are not measured, when they should be
  std::map<std::string, size_t> pieces;    // by kind: ranges found
  std::map<std::string, size_t> written;   // by kind: of these, new ones
  std::map<std::string, size_t> left_out;  // by reason: pieces that are no graphs of their own
  double seconds = 0;
};

/// Cuts each graph at or below `roots` into directories OUT/KIND/PATH/_decomposed/NAME_startS_endE_N; PATH is the path
/// of the whole graph below its root. Among graphs captured at the same shapes, pieces of one kind with the same
/// identity_hash are written once, for the first of them, and its subgraph_sources.json names the ranges of all.
/// Appends a line per whole graph to OUT/decompose.jsonl (decompose_journal.h). A graph that has a line there with the
/// same rules and without an error is not decomposed again.
/// finished: called for each whole graph of `roots`, in order.
/// Errors:   Io; Resource: interrupted, no worker, another run writes to OUT; BadInput: a root that does not exist or
///           holds no graph.
Result<void> decompose(const std::vector<std::string>& roots, const std::filesystem::path& out,
                       const DecomposeOptions& options, const std::function<void(const WholeReport&)>& finished);

}  // namespace passnet::dataset
