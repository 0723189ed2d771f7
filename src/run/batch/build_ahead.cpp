#include "run/batch/build_ahead.h"

#include <fmt/format.h>
#include <sys/resource.h>

#include <memory>

#include "base/log.h"
#include "base/processors.h"
#include "run/batch/job.h"
#include "run/worker/requests.h"

namespace passnet::run {

namespace {

using Passes = Result<std::vector<pass::Pass>>;

/// A graph and the passes of its sample.
struct BuildItem {
  const graphdir::Sample* sample = nullptr;
  size_t index = 0;
  std::shared_ptr<const Passes> passes;
};

Passes load_listed(const ToBuild& one, const pass::LoadOptions& options) {
  PASSNET_TRY(const std::vector<std::filesystem::path> listed, pass::list_passes(one.files, one.sample->pass_dir));
  std::vector<pass::Pass> passes;
  for (const std::filesystem::path& file : listed) {
    PASSNET_TRY(pass::Pass loaded, pass::load_pass(one.files, file, options));
    passes.push_back(std::move(loaded));
  }
  return passes;
}

std::vector<BuildItem> items_of(const std::vector<ToBuild>& all, const pass::LoadOptions& options) {
  std::vector<BuildItem> items;
  for (const ToBuild& one : all) {
    if (one.graphs.empty() || one.sample->pass_dir.empty()) continue;
    const auto passes = std::make_shared<const Passes>(load_listed(one, options));
    if (!*passes) continue;
    for (const size_t index : one.graphs) items.push_back({one.sample, index, passes});
  }
  return items;
}

/// Of the GPU that graphs run on; empty on the CPU. Errors: as Worker::start and start_up().
Result<std::string> ask_architecture(const EvaluateOptions& options) {
  if (!options.gpu) return std::string();
  Worker worker({options.worker, Role::Reference, 1, options.interrupted, options.gpu});
  PASSNET_TRY_VOID(worker.start());
  PASSNET_TRY(const Hello hello, start_up(worker));
  return hello.architecture;
}

}  // namespace

Result<GraphBuild> build_graph(Worker& reference, const std::filesystem::path& path,
                               const std::vector<pass::Pass>& passes, const PassRunOptions& how,
                               const std::string& architecture) {
  PASSNET_TRY(const graphdir::GraphDir graph, graphdir::load_graph_dir(path));
  PASSNET_TRY_VOID(load_graph(reference, SlotWorkers::kGraph, graph.graph, {}, {}, how.timeout));
  std::vector<record::PassOutcome> outcomes;
  const auto rewrite = [&](const PassRunOptions& options) {
    Result<Rewritten> applied = rewrite_or_fail(reference, SlotWorkers::kGraph, graph.graph, passes, options, outcomes);
    forget_graph(reference, kTracedId, how.timeout);
    return applied;
  };
  // A call takes as long as the tensors are large, and is needed only where types depend on data.
  const graphdir::Metas metas{graph.weights, graph.inputs};
  PassRunOptions without_data = how;
  without_data.metas = &metas;
  Result<Rewritten> rewritten = rewrite(without_data);
  if (!rewritten && rewritten.error().failure != "no-match") {
    PASSNET_TRY_VOID(replay_inputs(reference, SlotWorkers::kGraph, graph, 0, how.timeout));
    rewritten = rewrite(how);
  }
  if (!rewritten) return rewritten.error();
  PASSNET_TRY(BuiltLists built, build_kernels(*rewritten, passes, how.build, architecture));
  GraphBuild made{rewritten->sites()};
  for (const pass::LaunchList& list : rewritten->lists) made.launches += list.launches.size();
  for (const auto& of_list : built.kernels) {
    made.ways += of_list.size();
    for (const pass::BuiltKernel& kernel : of_list) made.from_cache += kernel.from_cache ? 1 : 0;
  }
  made.graph = std::move(rewritten->graph);
  made.pass_of_list = std::move(rewritten->pass_of_list);
  made.bound = std::move(rewritten->bound);
  made.planned = std::move(rewritten->lists);
  made.built = std::move(built);
  return made;
}

Result<void> build_ahead(const std::vector<ToBuild>& all, const EvaluateOptions& options, int jobs,
                         const std::string& known_architecture,
                         const std::function<bool(const graphdir::Sample&, size_t graph)>& is_wanted) {
  const std::vector<BuildItem> items = items_of(all, {options.allow_library, options.interrupted});
  if (items.empty()) return {};
  std::string architecture = known_architecture;
  if (architecture.empty()) {
    PASSNET_TRY(architecture, ask_architecture(options));
  }
  const JobOptions job{jobs, options.interrupted};
  SlotWorkers workers(job, {.binary = options.worker});
  PassRunOptions how;
  how.timeout = std::chrono::milliseconds(static_cast<int64_t>(options.timeout_s * 1000));
  how.on_gpu = options.gpu.has_value();
  how.match = {options.strict, options.generalize};
  how.build = options.build;
  how.build.interrupted = options.interrupted;
  return for_each_item(std::span(items), job, [&](const BuildItem& item, size_t slot) -> Result<void> {
    if (is_wanted && !is_wanted(*item.sample, item.index)) return {};
    PASSNET_TRY(Worker* const worker, workers.at(slot));
    const std::filesystem::path& graph = item.sample->graph_paths[item.index];
    const Result<GraphBuild> made = build_graph(*worker, graph, **item.passes, how, architecture);
    forget_graph(*worker, SlotWorkers::kGraph, how.timeout);
    if (!made) log::debug(fmt::format("{}: not built ahead: {}", graph.string(), to_string(made.error())));
    return {};
  });
}

BuildingAhead::BuildingAhead(std::vector<ToBuild> all, EvaluateOptions options, int jobs, std::vector<int> processors,
                             std::string architecture) {
  thread_ = std::thread([this, all = std::move(all), options = std::move(options), jobs,
                         processors = std::move(processors), architecture = std::move(architecture)] {
    const OnProcessors there(processors);
    // Of this thread and what it starts.
    constexpr int kNice = 10;
    if (::setpriority(PRIO_PROCESS, 0, kNice) != 0) log::debug("kernels are compiled ahead as urgently as graphs run");
    const auto wanted = [this](const graphdir::Sample& sample, size_t graph) { return is_wanted(sample, graph); };
    const Result<void> done = build_ahead(all, options, jobs, architecture, wanted);
    const bool interrupted = options.interrupted != nullptr && *options.interrupted;
    if (!done && !interrupted) log::warn(fmt::format("kernels are not compiled ahead: {}", to_string(done.error())));
  });
}

BuildingAhead::~BuildingAhead() {
  {
    const std::lock_guard lock(mutex_);
    ends_ = true;
  }
  thread_.join();
}

void BuildingAhead::leave_out(const graphdir::Sample& sample, const std::string& graph) {
  const std::lock_guard lock(mutex_);
  left_out_.emplace(&sample, graph);
}

bool BuildingAhead::is_wanted(const graphdir::Sample& sample, size_t graph) {
  const std::lock_guard lock(mutex_);
  return !ends_ && !left_out_.contains({&sample, sample.graph_names[graph]});
}

}  // namespace passnet::run
