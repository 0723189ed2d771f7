// Kernels compiled before the graphs that launch them are evaluated: many graphs at a time, on the CPU, where an
// evaluation has one graph at a time and its GPU waits for the compiler. What is compiled is kept (pass/kernel/build.h),
// so an evaluation finds it; what cannot be compiled is found out there again, and is a record then.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "pass/source.h"
#include "run/evaluate_options.h"
#include "run/run_passes.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// What one graph came to.
struct GraphBuild {
  int sites = 0;
  size_t launches = 0, ways = 0, from_cache = 0;  // ways: kernels, of which some were kept from earlier
};

/// Matches the passes into a graph in this worker, and compiles what they launch. architecture: "sm_90"; empty: the CPU.
/// Errors: of load_graph_dir, rewrite_or_fail and build_kernels.
Result<GraphBuild> build_graph(Worker& reference, const std::filesystem::path& graph,
                               const std::vector<pass::Pass>& passes, const PassRunOptions& how,
                               const std::string& architecture);

/// Graphs of a sample, by their place in it. The sample must outlive it.
struct ToBuild {
  const graphdir::Sample* sample = nullptr;
  std::vector<size_t> graphs;
};

/// Compiles for the device of `options`, `jobs` graphs at a time.
/// Errors: Resource: workers cannot be started, interrupted. None of a graph, a pass or a kernel.
Result<void> build_ahead(const std::vector<ToBuild>& all, const EvaluateOptions& options, int jobs);

}  // namespace passnet::run
