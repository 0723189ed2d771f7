#include "contest.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/stats.h"
#include "record/verdict.h"
#include "run/measure.h"
#include "run/passes.h"
#include "run/worker/pytorch.h"

namespace passnet::bench_tools {

namespace {

constexpr const char* kId = "graph";
constexpr const char* kTraceId = "traced";
constexpr int kBlocks = 8, kGpuBlocks = 2;  // a GPU's condition drifts less, and sides and tracks are many

// A block of calls in which a contestant that still takes part is timed.
void run_block(Contestant& contestant, int settling, int calls, size_t track, bool keep,
               const ContestOptions& options) {
  if (!contestant.problem.empty() || calls == 0) return;
  const run::TimedGraph graph{contestant.worker, kId};
  const run::BlockOptions how{settling, calls, false, false, options.tracks[track], options.timeout};
  const run::Answer<run::TimedBlock> block =
      options.gpu ? run::time_block(graph, how) : run::time_block_alone(graph, how);
  if (!block) {
    contestant.problem = block.error().error.message;
  } else if (keep) {
    std::vector<double>& trials = contestant.trials_us[track];
    trials.insert(trials.end(), block->times_us.begin(), block->times_us.end());
    contestant.mode = block->mode;
  }
}

Result<run::Worker> start(run::WorkerOptions options) {
  run::Worker worker(std::move(options));
  PASSNET_TRY_VOID(worker.start());
  return worker;
}

run::Answer<run::Values> trace(run::Worker& first, const ir::Graph& graph, const std::vector<pass::LaunchList>& lists,
                               const run::Bundle& inputs, const ContestOptions& options) {
  PASSNET_TRY_VOID(run::load_graph(first, kTraceId, graph, lists, {}, options.timeout));
  PASSNET_TRY_VOID(run::set_inputs(first, kTraceId, inputs, options.timeout));
  return run::trace_graph(first, kTraceId, graph, options.timeout);
}

// Why the outputs of a contestant do not count, or "".
std::string disagreement(run::Worker& first, const run::Outputs& found, const ContestOptions& options) {
  record::RunRecord record;
  if (auto compared = run::compare_outputs(first, kId, found, record, options.timeout); !compared)
    return compared.error().error.message;
  record.stage = record::Stage::Done;
  return record::judge(record).correct_at(record::kCorrectT) ? "" : "its outputs differ: " + record::headline(record);
}

}  // namespace

Result<run::Worker> start_pytorch(const ContestOptions& options, const std::string& mode) {
  return run::start_pytorch(
      {options.python, options.pytorch_worker, mode, options.threads, {}, options.gpu.has_value(), nullptr});
}

Result<run::Worker> start_ours(const ContestOptions& options, run::Role role) {
  return start({{}, role, options.threads, nullptr, options.gpu});
}

run::Answer<run::Bundle> prepare(run::Worker& first, const graphdir::GraphDir& graph, const ContestOptions& options) {
  constexpr uint64_t kSeed = 1024;
  if (auto loaded = run::load_graph(first, kId, graph.graph, {}, {}, options.timeout); !loaded)
    return tl::unexpected(loaded.error());
  auto inputs = run::replay_inputs(first, kId, graph, kSeed, options.timeout);
  if (!inputs) return inputs;
  if (auto set = run::set_inputs(first, kId, *inputs, options.timeout); !set) return tl::unexpected(set.error());
  if (auto expected = run::run_graph(first, kId, false, options.timeout); !expected)
    return tl::unexpected(expected.error());
  return inputs;
}

Result<Entry> apply_passes(run::Worker& first, const graphdir::GraphDir& graph, const std::vector<pass::Pass>& passes,
                           const run::Bundle& inputs, const ContestOptions& options) {
  const auto traced = [&](const ir::Graph& rewritten, const std::vector<pass::LaunchList>& lists) {
    return trace(first, rewritten, lists, inputs, options);
  };
  run::Answer<run::Rewritten> applied = run::apply_passes(graph.graph, passes, traced, {}, options.gpu.has_value());
  if (!applied) return applied.error().error;
  run::Rewritten rewritten = std::move(*applied);
  if (rewritten.sites() == 0) return bad_pass("no pass replaces anything in this graph");
  const run::Answer<run::Hello> hello = run::greet(first, options.timeout);
  if (!hello) return hello.error().error;
  PASSNET_TRY(auto kernels, run::build_kernels(rewritten, passes, {}, hello->architecture));
  return Entry{std::move(rewritten.graph), std::move(rewritten.lists), std::move(kernels)};
}

void enter(Contestant& contestant, run::Worker& first, std::mutex& first_is_busy, const Entry& entry,
           const run::Bundle& inputs, const ContestOptions& options) {
  run::Worker& worker = contestant.worker;
  if (auto loaded =
          run::load_graph(worker, kId, entry.graph, entry.lists, entry.kernels, options.timeout, contestant.cuda_graph);
      !loaded) {
    contestant.problem = loaded.error().error.message;
  } else if (auto set = run::set_inputs(worker, kId, inputs, options.timeout); !set) {
    contestant.problem = set.error().error.message;
  } else if (auto found = run::run_graph(worker, kId, true, options.timeout); !found) {
    contestant.problem = found.error().error.message;
  } else {
    const std::lock_guard lock(first_is_busy);
    contestant.problem = disagreement(first, *found, options);
  }
}

void measure_in_turns(std::vector<Contestant>& contestants, const ContestOptions& options) {
  std::optional<run::Stopped> stopped;
  if (!options.gpu) {
    std::vector<run::Worker*> workers;
    for (Contestant& contestant : contestants) workers.push_back(&contestant.worker);
    stopped.emplace(std::move(workers));
  }
  for (Contestant& contestant : contestants) contestant.trials_us.resize(options.tracks.size());
  for (size_t track = 0; track < options.tracks.size(); ++track) {
    for (Contestant& contestant : contestants) run_block(contestant, 0, options.warmup, track, false, options);
    const int blocks = options.gpu ? kGpuBlocks : kBlocks;
    int done = 0;
    for (int block = 0; block < blocks; ++block) {
      const int calls = (options.trials - done) / (blocks - block);
      done += calls;
      std::vector<Contestant*> order;
      for (Contestant& contestant : contestants) order.push_back(&contestant);
      std::rotate(order.begin(), order.begin() + block / 2 % static_cast<int>(order.size()), order.end());
      if (block % 2) std::reverse(order.begin(), order.end());
      for (Contestant* contestant : order) run_block(*contestant, run::kSettlingCalls, calls, track, true, options);
    }
  }
}

Result<void> leave(std::vector<Contestant>& contestants, const ContestOptions& options) {
  for (Contestant& contestant : contestants) {
    // A capture that failed can leave PyTorch unable to capture anything.
    if (options.gpu && !contestant.problem.empty()) contestant.worker.stop();
    contestant.problem.clear();
    contestant.trials_us.clear();
    for (const char* id : {kId, kTraceId}) run::forget_graph(contestant.worker, id, std::chrono::seconds(60));
    if (!contestant.worker.alive()) PASSNET_TRY_VOID(contestant.worker.start());
  }
  return {};
}

double median_us(const Contestant& contestant, size_t track) {
  return track < contestant.trials_us.size() ? record::summarize(contestant.trials_us[track]).median : 0;
}

}  // namespace passnet::bench_tools
