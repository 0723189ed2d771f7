// Whole graphs -> unique subgraphs on disk. Source: dataset specification, sections C and D; docs/dataset.md
// says where we differ.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"
#include "dataset/pieces/typical.h"
#include "graphdir/kind.h"

namespace passnet::dataset {

struct DecomposeOptions {
  std::vector<graphdir::Kind> kinds{graphdir::kKinds.begin(), graphdir::kKinds.end()};
  TypicalOptions typical;
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

/// Decomposes each graph directory at or below `roots` into OUT/KIND/PATH/_decomposed/NAME_startS_endE_N,
/// PATH being that of the whole graph below its root. Of equal pieces of one kind (identity_hash) of graphs
/// captured at the same shapes the first is written, and its subgraph_sources.json names the ranges of all.
/// Also appends to OUT/decompose.jsonl, a line per whole graph (decompose_journal.h). Graphs that are in it
/// with the same rules and without an error are not decomposed again. finished: called for each whole graph
/// of `roots`, in order. Errors: Io; Resource (interrupted, no worker, another run
/// writes to OUT); BadInput (a root that does not exist or holds no graph).
Result<void> decompose(const std::vector<std::string>& roots, const std::filesystem::path& out,
                       const DecomposeOptions& options, const std::function<void(const WholeReport&)>& finished);

}  // namespace passnet::dataset
