#include "contest.h"

#include <fmt/format.h>

#include <algorithm>

#include "record/stats.h"
#include "record/verdict.h"
#include "run/apply/build_kernels.h"
#include "run/apply/run_passes.h"
#include "run/evaluate/judge_values.h"
#include "run/measure/measure.h"
#include "run/worker/pytorch.h"

namespace passnet::bench_tools {

namespace {

constexpr const char* kId = "graph";
constexpr int kBlocks = 8, kGpuBlocks = 2;  // a GPU's condition drifts less, and sides and tracks are many

// A block of calls in which a contestant that still takes part is timed.
void run_block(Contestant& contestant, int settling, int calls, size_t track, bool keep,
               const ContestOptions& options) {
  if (!contestant.problem.empty() || calls == 0) return;
  const run::TimedGraph graph{contestant.worker, kId};
  const run::BlockOptions how{settling, calls, false, false, options.tracks[track], 1, options.timeout};
  const Result<run::TimedBlock> block = options.gpu ? run::time_block(graph, how) : run::time_block_alone(graph, how);
  if (!block) {
    contestant.problem = block.error().message;
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

// Why the outputs of a contestant do not count, or "".
std::string disagreement(Contestant& contestant, Prepared& prepared, const run::Outputs& found,
                         const ContestOptions& options) {
  record::RunRecord record;
  record.graph = prepared.graph.name;
  const auto judged = [&]() -> Result<void> {
    PASSNET_TRY_VOID(run::compare_outputs(prepared.first, kId, found, record, options.timeout));
    record.stage = record::Stage::Done;
    if (record::judge(record).status != record::Status::Correct) return {};
    const run::ComparedGraph compared{prepared.first, contestant.worker, kId, prepared.graph, found, false, false};
    return run::judge_recorded_values(compared, options.timeout, record);
  }();
  if (!judged) return judged.error().message;
  return record::judge(record).correct_at(record::kCorrectT) ? "" : "its outputs differ: " + record::headline(record);
}

}  // namespace

Result<run::Worker> start_pytorch(const ContestOptions& options, const std::string& mode) {
  return run::start_pytorch({options.python, options.pytorch_worker, mode, options.threads, options.processors,
                             options.gpu.has_value(), options.gpu.value_or(0), nullptr});
}

Result<run::Worker> start_ours(const ContestOptions& options, run::Role role) {
  return start({{}, role, options.threads, nullptr, options.gpu, options.processors});
}

Result<run::Bundle> prepare(run::Worker& first, const graphdir::GraphDir& graph, const ContestOptions& options) {
  constexpr uint64_t kSeed = 1024;
  PASSNET_TRY_VOID(run::load_graph(first, kId, graph.graph, {}, {}, options.timeout));
  PASSNET_TRY(run::Bundle inputs, run::replay_inputs(first, kId, graph, kSeed, options.timeout));
  PASSNET_TRY_VOID(run::run_graph(first, kId, false, options.timeout));
  return inputs;
}

Result<std::optional<Entry>> apply_passes(run::Worker& first, const graphdir::GraphDir& graph,
                                          const std::vector<pass::Pass>& passes, const ContestOptions& options) {
  std::vector<record::PassOutcome> outcomes;
  const run::PassRunOptions how{options.timeout, options.gpu.has_value()};
  PASSNET_TRY(run::Rewritten rewritten, run::rewrite_or_fail(first, kId, graph.graph, passes, how, outcomes));
  if (rewritten.sites() == 0) return std::optional<Entry>();
  PASSNET_TRY(const run::Hello hello, run::greet(first, options.timeout));
  PASSNET_TRY(run::BuiltLists built, run::build_kernels(rewritten, passes, {}, hello.architecture));
  return std::optional(Entry{std::move(rewritten.graph), std::move(built.lists), std::move(built.kernels)});
}

void enter(Contestant& contestant, const Entry& entry, Prepared& prepared, const ContestOptions& options) {
  run::Worker& worker = contestant.worker;
  if (auto loaded =
          run::load_graph(worker, kId, entry.graph, entry.lists, entry.kernels, options.timeout, contestant.cuda_graph);
      !loaded) {
    contestant.problem = loaded.error().message;
  } else if (auto set = run::set_inputs(worker, kId, prepared.inputs, options.timeout); !set) {
    contestant.problem = set.error().message;
  } else if (auto found = run::run_graph(worker, kId, true, options.timeout); !found) {
    contestant.problem = found.error().message;
  } else {
    const std::lock_guard lock(prepared.first_is_busy);
    contestant.problem = disagreement(contestant, prepared, *found, options);
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
    for (const char* id : {kId, run::kTracedId}) run::forget_graph(contestant.worker, id, std::chrono::seconds(60));
    if (!contestant.worker.alive()) PASSNET_TRY_VOID(contestant.worker.start());
  }
  return {};
}

double median_us(const Contestant& contestant, size_t track) {
  return track < contestant.trials_us.size() ? record::summarize(contestant.trials_us[track]).median : 0;
}

}  // namespace passnet::bench_tools
