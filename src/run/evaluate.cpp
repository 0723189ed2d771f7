#include "run/evaluate.h"

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include <fmt/format.h>

#include "base/log.h"
#include "fx/print.h"
#include "pass/source.h"
#include "run/graph_texts.h"
#include "run/measure.h"
#include "run/session.h"

namespace passnet::run {

namespace {

using Clock = std::chrono::steady_clock;
using bench::Stage;

// Starting libtorch takes half a second on a quiet machine; a busy one gets a minute.
constexpr std::chrono::milliseconds kStartTimeout{60000};

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  ::gmtime_r(&now, &fields);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields);
  return text;
}

// The passes of the sample, loaded once; a pass that cannot be read fails every graph with the same words.
Result<std::vector<pass::Pass>> load_passes(const fx::Sample& sample) {
  if (sample.pass_dir.empty()) {
    return bad_input(fmt::format("sample '{}' has no pass_dir", sample.name))
        .with_hint("write passes (passnet pass new), or evaluate without them: --compiler eager");
  }
  PASSNET_TRY(std::vector<std::filesystem::path> paths, pass::list_passes(sample.pass_dir));
  std::vector<pass::Pass> passes;
  for (const std::filesystem::path& path : paths) {
    PASSNET_TRY(pass::Pass loaded, pass::load_pass(path));
    passes.push_back(std::move(loaded));
  }
  return passes;
}

int threads_of(const EvaluateOptions& options) {
  if (options.threads > 0) return options.threads;
  return options.processors.empty() ? available_threads() : static_cast<int>(options.processors.size());
}

class SampleEvaluation {
 public:
  SampleEvaluation(const fx::Sample& sample, const EvaluateOptions& options)
      : sample_(sample),
        options_(options),
        threads_(threads_of(options)),
        timeout_(static_cast<int64_t>(options.timeout_s * 1000)),
        reference_({options.worker, Role::Reference, threads_, options.interrupted, options.gpu, options.processors}),
        candidate_({options.worker, Role::Candidate, threads_, options.interrupted, options.gpu, options.processors}) {}

  // Both workers come up while the passes are read and the first graph is parsed.
  Result<void> start() {
    PASSNET_TRY_VOID(reference_.start());
    PASSNET_TRY_VOID(candidate_.start());
    if (options_.compiler == "passes") passes_ = load_passes(sample_);
    if (!options_.gpu) return {};
    // Without that GPU no graph can be evaluated, so this is no record of a graph.
    if (const auto known = learn_hardware(); !known && known.error().kind == "resource" && !known.error().worker_lost)
      return known.error().error;
    return {};
  }

  Result<bench::RunRecord> evaluate(size_t index) {
    const auto begin = Clock::now();
    texts_ = {};
    bench::RunRecord record;
    record.sample = sample_.name;
    record.graph = sample_.graph_names[index];
    record.compiler = options_.compiler;
    record.device = options_.gpu ? fmt::format("cuda:{}", *options_.gpu) : "cpu";
    record.threads = threads_;
    record.seed = options_.seed;
    record.started = utc_now();
    PASSNET_TRY_VOID(revive(reference_));
    PASSNET_TRY_VOID(revive(candidate_));
    if (std::optional<Failure> failure = walk(index, record)) {
      record.error_kind = failure->kind;
      record.error = to_string(failure->error);
    }
    forget();
    record.hardware = hardware_;
    record.evaluate_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return record;
  }

  /// Of the graph that was evaluated last.
  const bench::GraphTexts& texts() const { return texts_; }

 private:
  // The line of DESIGN section 3, stage by stage; returns why it ended early.
  std::optional<Failure> walk(size_t index, bench::RunRecord& record) {
    record.stage = Stage::Parse;
    Result<fx::GraphDir> graph = fx::load_graph_dir(sample_.graph_paths[index]);
    if (!graph) return to_failure(graph.error());
    texts_.before = fx::print_model(graph->graph);

    record.stage = Stage::Inputs;
    if (auto known = learn_hardware(); !known) return known.error();
    if (auto loaded = load_graph(reference_, kId, graph->graph, {}, {}, timeout_); !loaded) return loaded.error();
    Answer<Bundle> inputs = replay_inputs(reference_, kId, *graph, options_.seed, timeout_);
    if (!inputs) return inputs.error();
    if (auto set = set_inputs(reference_, kId, *inputs, timeout_); !set) return set.error();

    record.stage = Stage::Reference;
    if (auto expected = run_graph(reference_, kId, false, timeout_); !expected) return expected.error();

    record.stage = Stage::Match;
    Rewritten rewritten;
    std::vector<std::vector<pass::BuiltKernel>> kernels;
    rewritten.graph = graph->graph;
    if (options_.compiler == "passes") {
      if (auto failure = rewrite_graph(graph->graph, *inputs, record, rewritten)) return failure;
      add_rewritten(texts_, rewritten);
      record.stage = Stage::Build;
      auto built = build_kernels(rewritten, *passes_, options_.build, architecture_);
      if (!built) return to_failure(built.error());
      kernels = std::move(*built);
    }

    record.stage = Stage::Load;
    if (auto hello = greet(candidate_, kStartTimeout); !hello) return hello.error();
    if (auto loaded = load_graph(candidate_, kId, rewritten.graph, rewritten.lists, kernels, timeout_, options_.cuda_graph);
        !loaded)
      return loaded.error();
    if (auto set = set_inputs(candidate_, kId, *inputs, timeout_); !set) return set.error();

    record.stage = Stage::Run;
    Answer<Outputs> found = run_graph(candidate_, kId, true, timeout_);
    if (!found) return found.error();

    record.stage = Stage::Compare;
    if (auto compared = compare_outputs(reference_, kId, *found, record, timeout_); !compared) return compared.error();

    if (options_.timed) {
      record.stage = Stage::Time;
      const MeasureOptions how{options_.warmup, options_.trials, timeout_, options_.gpu.has_value()};
      Answer<Measured> measured = measure({reference_, kId}, {candidate_, kId}, how);
      if (!measured) return measured.error();
      record.reference = std::move(measured->reference);
      record.candidate = std::move(measured->candidate);
      record.disturbed = measured->disturbed;
      record.load = measured->load;
      record.deterministic = measured->changed_calls == 0;
      if (options_.compiler == "passes" && !controlled_) record.control = measure_control(graph->graph, *inputs, how);
    }
    record.stage = Stage::Done;
    return std::nullopt;
  }

  // The A/A control of the sample, on the graph that was just timed: the candidate runs it without passes, operator by operator as
  // the reference does. None when the candidate cannot; whatever that is, it has nothing to do with this graph's own result.
  std::optional<bench::Control> measure_control(const ir::Graph& graph, const Bundle& inputs, const MeasureOptions& how) {
    controlled_ = true;
    if (!load_graph(candidate_, kControlId, graph, {}, {}, timeout_)) return std::nullopt;
    if (!set_inputs(candidate_, kControlId, inputs, timeout_)) return std::nullopt;
    if (!run_graph(candidate_, kControlId, false, timeout_)) return std::nullopt;
    Answer<Measured> measured = measure({reference_, kId}, {candidate_, kControlId}, how);
    if (!measured) return std::nullopt;
    return bench::Control{std::move(measured->reference), std::move(measured->candidate), measured->disturbed};
  }

  std::optional<Failure> rewrite_graph(const ir::Graph& graph, const Bundle& inputs, bench::RunRecord& record,
                                       Rewritten& rewritten) {
    if (!passes_) return to_failure(passes_.error());
    // A trace fails as the worker says; the record keeps its kind, so it is carried past apply_passes' Error.
    std::optional<Failure> trace_failure;
    const TraceFn trace = [&](const ir::Graph& traced, const std::vector<pass::LaunchList>& lists) -> Result<Values> {
      Answer<Values> values = trace_with(traced, lists, inputs);
      if (values) return std::move(*values);
      trace_failure = values.error();
      return values.error().error;
    };
    Result<Rewritten> applied = apply_passes(graph, *passes_, trace, {options_.strict}, options_.gpu.has_value());
    if (trace_failure) return trace_failure;
    if (!applied) return to_failure(applied.error());
    rewritten = std::move(*applied);
    record.passes = rewritten.outcomes;
    int declined = 0;
    for (const bench::PassOutcome& outcome : record.passes) declined += outcome.declined;
    if (rewritten.sites() > 0 || declined > 0) return std::nullopt;
    Failure failure{"no-match", bad_pass("no pass matched this graph"), false};
    for (const bench::PassOutcome& outcome : record.passes) {
      if (!outcome.diagnosis.empty()) failure.error.notes.push_back(fmt::format("pass '{}': {}", outcome.pass, outcome.diagnosis));
    }
    return failure;
  }

  Answer<Values> trace_with(const ir::Graph& graph, const std::vector<pass::LaunchList>& lists, const Bundle& inputs) {
    if (auto loaded = load_graph(reference_, kTraceId, graph, lists, {}, timeout_); !loaded)
      return tl::unexpected(loaded.error());
    if (auto set = set_inputs(reference_, kTraceId, inputs, timeout_); !set) return tl::unexpected(set.error());
    return trace_graph(reference_, kTraceId, graph, timeout_);
  }

  // What the reference says of the machine; asked once.
  Answer<void> learn_hardware() {
    if (!hardware_.empty()) return {};
    Answer<Hello> hello = greet(reference_, kStartTimeout);
    if (!hello) return tl::unexpected(hello.error());
    hardware_ = fmt::format("{}, torch {}", hello->hardware, hello->torch);
    architecture_ = hello->architecture;
    return {};
  }

  // A lost worker is replaced before the next graph.
  Result<void> revive(Worker& worker) { return worker.alive() ? Result<void>{} : worker.start(); }

  // Frees the graph on both sides. A worker that fails at this is noticed, and replaced, at the next graph.
  void forget() {
    for (const char* id : {kId, kTraceId}) {
      if (reference_.alive()) (void)unload_graph(reference_, id, timeout_).has_value();
    }
    for (const char* id : {kId, kControlId}) {
      if (candidate_.alive()) (void)unload_graph(candidate_, id, timeout_).has_value();
    }
  }

  static constexpr const char* kId = "graph";
  static constexpr const char* kTraceId = "traced";
  static constexpr const char* kControlId = "control";

  const fx::Sample& sample_;
  const EvaluateOptions& options_;
  const int threads_;
  const std::chrono::milliseconds timeout_;
  Worker reference_, candidate_;
  Result<std::vector<pass::Pass>> passes_;
  std::string hardware_, architecture_;
  bench::GraphTexts texts_;
  bool controlled_ = false;  // the sample has its A/A control
};

}  // namespace

int available_threads() { return std::max<int>(1, static_cast<int>(available_processors().size())); }

Result<void> evaluate_sample(const fx::Sample& sample, const EvaluateOptions& options, const EvaluateHooks& hooks) {
  const auto skipped = [&](size_t i) { return hooks.skip && hooks.skip(sample.graph_names[i]); };
  size_t remaining = 0;
  for (size_t i = 0; i < sample.graph_names.size(); ++i) remaining += skipped(i) ? 0 : 1;
  if (remaining == 0) return {};

  SampleEvaluation evaluation(sample, options);
  PASSNET_TRY_VOID(evaluation.start());
  for (size_t i = 0; i < sample.graph_names.size(); ++i) {
    if (skipped(i)) continue;
    if (options.interrupted && *options.interrupted) return resource_error("interrupted");
    if (hooks.started) hooks.started(sample.graph_names[i]);
    PASSNET_TRY(const bench::RunRecord record, evaluation.evaluate(i));
    // What an interrupt cut short is not a result.
    if (options.interrupted && *options.interrupted) return resource_error("interrupted");
    if (hooks.texts) PASSNET_TRY_VOID(hooks.texts(record.graph, evaluation.texts()));
    PASSNET_TRY_VOID(hooks.finished(record));
  }
  return {};
}

}  // namespace passnet::run
