// One sample -> records: parsed, rewritten, built, run, compared and timed, graph by graph.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "pass/kernel/build.h"
#include "record/graph_texts.h"
#include "record/record.h"
#include "run/worker/worker.h"

namespace passnet::run {

struct EvaluateOptions {
  std::string compiler = "passes";  // passes | eager
  int warmup = 25;
  int trials = 100;
  uint64_t seed = 1024;             // of the replayed inputs
  int threads = 0;                  // 0: all of `processors`
  std::vector<int> processors;      // that are ours alone for this evaluation; empty: all this process may use
  double timeout_s = 60;            // for one request to a worker
  bool strict = false;              // upstream's literal matching
  std::optional<int> gpu;           // the CUDA device of both sides; none: the CPU
  std::string cuda_graph = "auto";  // auto | on | off: whether the candidate's calls are recorded and repeated
  bool timed = true;                // false: check only
  bool profile = false;             // where the time of a call goes, launch by launch
  std::string rival;                // another compiler to time beside: "torch.compile"; empty: none
  std::filesystem::path worker;     // empty: beside the binary
  pass::BuildOptions build;
  const std::atomic<bool>* interrupted = nullptr;  // becomes true at Ctrl-C: the run ends at once
};

/// Number of processors this process may run on.
int available_threads();

/// The tensors of one graph; a bundle that the evaluation did not come to has no descriptor.
struct GraphTensors {
  Bundle inputs;           // by the names in forward
  Bundle expected, found;  // "out_0", …: of the original and of the rewritten graph
};

struct EvaluateHooks {
  std::function<bool(const std::string& graph)> skip;     // already done (resume); may be empty
  std::function<void(const std::string& graph)> started;  // for progress; may be empty
  std::function<Result<void>(const std::string& graph, const record::GraphTexts&)>
      texts;                                                       // stores them, before `finished`; may be empty
  std::function<Result<void>(const record::RunRecord&)> finished;  // stores the record; an error ends the run
  std::function<Result<void>(const std::string& graph, const GraphTensors&)> tensors;  // after `finished`; may be empty
};

/// Evaluates every graph of the sample. A bad graph, pass or kernel is a record, not an error.
/// Errors: Resource (workers cannot be started), what `finished` gave, and Resource "interrupted".
Result<void> evaluate_sample(const graphdir::Sample& sample, const EvaluateOptions& options,
                             const EvaluateHooks& hooks);

}  // namespace passnet::run
