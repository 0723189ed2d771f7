// Whole graphs -> the same graphs at further shapes, their constants rewritten. Source: dataset
// specification, D.2; docs/dataset.md says where we differ.
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
  double search_s = 60;    // of a model, for what its integers stand for; what is settled then stays
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

/// Writes OUT/PATH for each graph directory at or below `roots` and each further shape, PATH being that of
/// the captured one with another shape in it. Captures of one model at several shapes (paths that differ in
/// the shape that graph_net.json names) are used together. Also appends to OUT/generalize.jsonl, a line per
/// model (generalize_journal.h). Models that are in it with the same rules and without an error, and whose
/// directories are all there, are not generalized again. finished: called for each model, in order. Errors: Io; Resource (interrupted, another run writes to OUT); BadInput (a root that
/// does not exist or holds no graph).
Result<void> generalize(const std::vector<std::string>& roots, const std::filesystem::path& out,
                        const GeneralizeOptions& options, const std::function<void(const GeneralizeReport&)>& finished);

}  // namespace passnet::dataset
