// Whole graphs -> the same graphs at further shapes, with the sizes among their constants rewritten.
// Source: docs/dataset-format.md, "Generalize".
#pragma once

#include <atomic>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include "base/result.h"

namespace passnet::dataset {

struct GeneralizeOptions {
  size_t variants = 3;                     // of each model, besides those captured
  int64_t max_bytes = int64_t{256} << 20;  // of the largest computed value of a variant
  bool run = true;                         // run each variant once; those that a run refuses are left out
  /// Write nothing. Make each further capture of a model from its first alone, and compare.
  bool check = false;
  int jobs = 1;            // models at a time, each in a worker of its own
  double timeout_s = 120;  // of one step of a worker
  double search_s = 60;    // per model, to find what its integers stand for; symbols settled by then are kept
  const std::atomic<bool>* interrupted = nullptr;
};

/// What became of one model, or of one of its pieces.
struct GeneralizeReport {
  std::string graph;                            // path of the capture it starts from, relative to its root
  std::string error;                            // why it gave nothing; empty when it was tried
  std::map<std::string, int64_t> symbols;       // "S0": size as captured; those that may change
  std::vector<std::string> dropped;             // sizes that may not change: "3: why"
  std::vector<std::string> rewritten;           // "name: view 196 = x.size(1)"
  std::vector<std::string> written;             // directories, relative to OUT
  std::vector<std::string> skipped;             // variants that are not there: "b4_r128: why"
  std::map<std::string, std::string> compared;  // with check, by capture: "exact", "refused: why", "different: where"
  double seconds = 0;
};

/// Writes a directory OUT/PATH for each graph at or below `roots` and each further shape; PATH is that of the captured
/// graph with the new shape in place of its own. Captures of one model at several shapes (find_models) are used
/// together. Appends a line per model to OUT/generalize.jsonl (generalize_journal.h). A model that has a line there
/// with the same rules and without an error, and whose directories all exist, is not generalized again.
/// finished: called for each model, in order.
/// Errors:   Io; Resource: interrupted, another run writes to OUT; BadInput: a root that does not exist or holds no
///           graph.
Result<void> generalize(const std::vector<std::string>& roots, const std::filesystem::path& out,
                        const GeneralizeOptions& options, const std::function<void(const GeneralizeReport&)>& finished);

}  // namespace passnet::dataset
