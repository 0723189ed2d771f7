// Kernels compiled before the graphs that launch them are evaluated: many graphs at a time, on the CPU, where an
// evaluation has one graph at a time and its GPU waits for the compiler. What is compiled is kept (pass/kernel/build.h),
// so an evaluation finds it; what cannot be compiled is found out there again, and is a record then.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/result.h"
#include "graphdir/sample.h"
#include "ir/graph.h"
#include "pass/source.h"
#include "run/apply/build_kernels.h"
#include "run/apply/run_passes.h"
#include "run/evaluate/evaluate_options.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// What one graph came to.
struct GraphBuild {
  int sites = 0;
  size_t launches = 0, ways = 0, from_cache = 0;  // ways: kernels, of which some were kept from earlier
  ir::Graph graph = {};                           // with passnet.fused at the sites
  BuiltLists built = {};
  std::vector<size_t> pass_of_list = {};  // as Rewritten has them
  std::vector<Bound> bound = {};
  std::vector<pass::LaunchList> planned = {};  // of the plans, where `built` has what was made of them
};

/// Matches the passes into a graph in this worker, and compiles what they launch. architecture: as of
/// build_kernels().
/// Errors: of load_graph_dir, rewrite_or_fail and build_kernels.
Result<GraphBuild> build_graph(Worker& reference, const std::filesystem::path& graph,
                               const std::vector<pass::Pass>& passes, const PassRunOptions& how,
                               const std::string& architecture);

/// Graphs of a sample, by their place in it. The sample must outlive it.
struct ToBuild {
  const graphdir::Sample* sample = nullptr;
  std::vector<size_t> graphs;
  SourceFiles files = SourceFiles();  // of its passes: sources_of()
};

/// Compiles for the device of `options`, `jobs` graphs at a time, in their order.
/// architecture: of the GPU; empty: a worker is asked for it.
/// is_wanted: asked when it is a graph's turn; whoever evaluates it already compiles what it needs. Called by several
/// threads at once; empty: all are.
/// Errors: Resource: workers cannot be started, interrupted. None of a graph, a pass or a kernel.
Result<void> build_ahead(const std::vector<ToBuild>& all, const EvaluateOptions& options, int jobs,
                         const std::string& architecture = {},
                         const std::function<bool(const graphdir::Sample&, size_t graph)>& is_wanted = {});

/// The same while evaluations go on, on processors where none is timed, and only where these have nothing else to do. What
/// is wrong with it is logged: evaluations compile for themselves then.
class BuildingAhead {
 public:
  /// Begins. What `all` refers to must outlive it. architecture: as of build_ahead().
  BuildingAhead(std::vector<ToBuild> all, EvaluateOptions options, int jobs, std::vector<int> processors,
                std::string architecture = {});
  /// Begins nothing more, and waits for what is under way.
  ~BuildingAhead();
  BuildingAhead(const BuildingAhead&) = delete;
  BuildingAhead& operator=(const BuildingAhead&) = delete;

  /// Someone evaluates this graph from now on.
  void leave_out(const graphdir::Sample& sample, const std::string& graph);

 private:
  bool is_wanted(const graphdir::Sample& sample, size_t graph);

  std::mutex mutex_;
  std::set<std::pair<const graphdir::Sample*, std::string>> left_out_;
  bool ends_ = false;
  std::thread thread_;
};

}  // namespace passnet::run
