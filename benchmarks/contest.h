// Several workers time the same graph on the same inputs, one after the other in short blocks while all
// others sleep, so that the figures of one run can be compared. PyTorch itself takes part as a worker
// (pytorch_worker.py).
#pragma once

#include <filesystem>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "graphdir/sample.h"
#include "pass/source.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::bench_tools {

/// One side of a comparison.
struct Contestant {
  std::string name;  // "PyTorch eager"
  run::Worker worker;
  std::string cuda_graph = "off";                   // how its calls of our own worker go; see docs/protocol.md
  std::string problem = {};                         // why the graph at hand is not timed; empty when it is
  std::vector<std::vector<double>> trials_us = {};  // of the graph at hand, by track
  std::string mode = {};                            // how its calls went: record::Timing::mode
};

struct ContestOptions {
  int threads = 2;
  int warmup = 25;
  int trials = 100;
  std::string python = "python3";                      // has PyTorch
  std::filesystem::path pytorch_worker;                // pytorch_worker.py
  std::optional<int> gpu;                              // none: the CPU
  std::vector<int> processors = {};                    // as WorkerOptions::processors
  std::vector<record::Track> tracks{record::Track{}};  // the ways in which every contestant is timed
  std::chrono::milliseconds timeout{300000};
};

/// PyTorch in a process of its own. mode: of pytorch_worker.py: "eager", "compile", "reduce-overhead", … Errors:
/// Resource, Io.
Result<run::Worker> start_pytorch(const ContestOptions& options, const std::string& mode);
/// passnet-worker beside this binary. Errors: Resource, Io.
Result<run::Worker> start_ours(const ContestOptions& options, run::Role role);

/// A graph as one contestant runs it: as read, or with passes applied.
struct Entry {
  ir::Graph graph;
  std::vector<pass::LaunchList> lists = {};
  std::vector<std::vector<pass::BuiltKernel>> kernels = {};
};

/// Makes `first` (passnet-worker as reference) hold the graph, its inputs and its expected outputs. Returns
/// the inputs.
Result<run::Bundle> prepare(run::Worker& first, const graphdir::GraphDir& graph, const ContestOptions& options);

/// Applies the passes and builds their kernels; `first` traces. Returns: nothing when they leave the graph alone. Errors: as
/// rewrite_or_fail and build_kernels.
Result<std::optional<Entry>> apply_passes(run::Worker& first, const graphdir::GraphDir& graph,
                                          const std::vector<pass::Pass>& passes, const ContestOptions& options);

/// The graph at hand, as `prepare` left it on `first`.
struct Prepared {
  run::Worker& first;
  graphdir::GraphDir graph;
  const run::Bundle& inputs;
  std::mutex first_is_busy = {};
};

/// Loads the entry on a contestant, runs it once and judges its outputs as `passnet eval` does on the recorded values:
/// within the error budgets of docs/scoring.md, which know what rounding may do and what a more exact sum is. Whatever
/// goes wrong becomes the contestant's `problem`. May be called for several contestants at a time.
void enter(Contestant& contestant, const Entry& entry, Prepared& prepared, const ContestOptions& options);

/// Times the graph on all contestants without a problem: every one is warmed up, then blocks of trials go
/// round, in an order that turns and reverses so that no side is always first or always after the same other.
void measure_in_turns(std::vector<Contestant>& contestants, const ContestOptions& options);

/// Frees the graph at hand everywhere and starts anew what was lost with it. Errors: Resource, Io.
Result<void> leave(std::vector<Contestant>& contestants, const ContestOptions& options);

/// Median of the trials of a track; 0 without trials.
double median_us(const Contestant& contestant, size_t track = 0);

}  // namespace passnet::bench_tools
