// The reference's side of one graph, made once for all who are evaluated against it.
#pragma once

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <vector>

#include "base/result.h"
#include "fx/syntax/parser.h"
#include "graphdir/sample.h"
#include "record/record.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::run {

struct PreparedReferenceOptions {
  uint64_t seed = 0;  // of the inputs
  std::chrono::milliseconds timeout{60000};
  bool shares_outputs = false;  // those of the run are brought out of the worker
  bool is_kept = false;         // several are evaluated: what the run gives on other values is kept for the next
  fx::Operators operators = fx::Operators::Listed;  // that the graph may call
};

/// The graph, loaded, with its inputs, and run on them. A step is taken when it is first asked for; those before it must
/// have been. Whoever comes next finds what is there as it was after these steps, in a reference that was started since
/// too.
class PreparedReference {
 public:
  /// files: that the graph is read from. path: its directory. reference: must outlive it. Nothing is done yet.
  PreparedReference(SourceFiles files, std::filesystem::path path, Worker& reference, PreparedReferenceOptions options)
      : files_(std::move(files)), path_(std::move(path)), reference_(reference), options_(options) {}

  /// What the graph is loaded as.
  static constexpr const char* kId = "graph";

  /// Errors: as load_graph_dir().
  Result<void> parse();
  /// Loads it, unless it is there: then what an evaluation has left of itself goes. Errors: as load_graph().
  Result<void> load();
  /// Errors: as replay_inputs().
  Result<void> draw_inputs();
  /// Errors: as run_graph().
  Result<void> run();
  /// Frees it. Returns: as forget_graph().
  record::DeviceMemory forget();

  const SourceFiles& files() const { return files_; }
  /// REQUIRES: parse().
  graphdir::GraphDir& graph() { return *graph_; }
  /// No descriptor before draw_inputs().
  const Bundle& inputs() const { return inputs_; }
  /// No descriptor before run(), and without shares_outputs.
  const Bundle& expected() const { return expected_; }
  /// By output, whether it lies in memory of its own. Empty before run().
  const std::vector<bool>& owned() const { return owned_; }
  bool shares_outputs() const { return options_.shares_outputs; }
  bool is_kept() const { return options_.is_kept; }

 private:
  bool is_loaded() const { return reference_.alive() && reference_.starts() == loaded_in_; }

  const SourceFiles files_;
  const std::filesystem::path path_;
  Worker& reference_;
  const PreparedReferenceOptions options_;
  std::optional<graphdir::GraphDir> graph_;
  int loaded_in_ = 0;  // Worker::starts() of the process that has it; 0: none
  bool has_inputs_ = false;
  Bundle inputs_, expected_;
  std::vector<bool> owned_;
};

}  // namespace passnet::run
