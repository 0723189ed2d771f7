#include "run/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <chrono>
#include <ctime>
#include <optional>

#include "base/log.h"
#include "fx/print.h"
#include "pass/source.h"
#include "record/verdict.h"
#include "run/graph_texts.h"
#include "run/measure.h"
#include "run/pattern_names.h"
#include "run/provenance.h"
#include "run/run_passes.h"
#include "run/worker/pytorch.h"
#include "run/worker/requests.h"

namespace passnet::run {

namespace {

using Clock = std::chrono::steady_clock;
using record::Stage;

// PyTorch's compiler takes 20 s for its first graph, and longer on a busy machine.
constexpr std::chrono::milliseconds kCompileTimeout{300000};
constexpr int kProfiledCalls = 50;

std::string utc_now() {
  const std::time_t now = std::time(nullptr);
  std::tm fields{};
  ::gmtime_r(&now, &fields);
  char text[32];
  std::strftime(text, sizeof text, "%Y-%m-%dT%H:%M:%SZ", &fields);
  return text;
}

// The passes of the sample, loaded once; a pass that cannot be read fails every graph with the same words.
Result<std::vector<pass::Pass>> load_passes(const graphdir::Sample& sample) {
  if (sample.pass_dir.empty()) {
    return bad_input(fmt::format("sample '{}' has no pass_dir", sample.name))
        .with_hint("write passes (passnet pass new), or evaluate without them: --compiler eager");
  }
  return pass::load_passes(sample.pass_dir);
}

class SampleEvaluation {
 public:
  SampleEvaluation(const graphdir::Sample& sample, const EvaluateOptions& options)
      : sample_(sample),
        options_(options),
        threads_(resolve_options(options).threads),
        timeout_(static_cast<int64_t>(options.timeout_s * 1000)),
        reference_({options.worker, Role::Reference, threads_, options.interrupted, options.gpu, options.processors}),
        candidate_({options.worker, Role::Candidate, threads_, options.interrupted, options.gpu, options.processors}) {}

  // Both workers come up while the passes are read and the first graph is parsed.
  Result<void> start() {
    PASSNET_TRY_VOID(reference_.start());
    PASSNET_TRY_VOID(candidate_.start());
    if (options_.compiler == "passes") {
      pass_hashes_ = hash_passes(sample_);  // before they are read: a file that is changed in between counts as changed
      passes_ = load_passes(sample_);
    }
    if (!options_.rival.empty()) PASSNET_TRY_VOID(find_pytorch_worker());
    if (!options_.gpu) return {};
    // Without that GPU no graph can be evaluated, so this is no record of a graph.
    if (const auto known = learn_hardware(); !known && known.error().kind == "resource" && !known.error().worker_lost)
      return known.error().error;
    return {};
  }

  Result<record::RunRecord> evaluate(size_t index) {
    const auto begin = Clock::now();
    Tried tried = {};
    PASSNET_TRY(tried, attempt(index));
    if (tried.failure && tried.failure->retry) {
      // What is wrong with the GPU may be what these workers hold of it, or have done to it.
      const std::string why = to_string(tried.failure->error);
      log::warn(fmt::format("{}: evaluated anew in fresh workers: {}", tried.record.graph, why));
      reference_.stop();
      candidate_.stop();
      PASSNET_TRY(tried, attempt(index));
      tried.record.retried = why;
    }
    record::RunRecord& record = tried.record;
    if (tried.failure) {
      record.error_kind = tried.failure->kind;
      record.error = to_string(tried.failure->error);
    }
    record.hardware = hardware_;
    record.evaluate_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return record;
  }

  /// Of the graph that was evaluated last.
  const GraphTensors& tensors() const { return tensors_; }
  const record::GraphTexts& texts() const { return texts_; }

 private:
  struct Tried {
    record::RunRecord record;
    std::optional<Failure> failure;  // why it ended early
  };

  // Evaluates a graph once, in the workers that run; those that are lost are replaced.
  Result<Tried> attempt(size_t index) {
    Tried tried;
    record::RunRecord& record = tried.record;
    record.sample = sample_.name;
    record.graph = sample_.graph_names[index];
    record.compiler = options_.compiler;
    record.device = options_.gpu ? fmt::format("cuda:{}", *options_.gpu) : "cpu";
    record.threads = threads_;
    record.seed = options_.seed;
    record.started = utc_now();
    record::Provenance made_of = provenance_of(sample_, index, options_, {});
    made_of.passes = pass_hashes_;
    tensors_ = {};
    texts_ = {};
    PASSNET_TRY_VOID(revive(reference_));
    PASSNET_TRY_VOID(revive(candidate_));
    tried.failure = walk(index, record);
    forget(record);
    made_of.versions = versions_;
    record.provenance = std::move(made_of);
    return tried;
  }

  // From graph to record, stage by stage (docs/records.md, "How a graph becomes a record"); returns why it ended early.
  std::optional<Failure> walk(size_t index, record::RunRecord& record) {
    record.stage = Stage::Parse;
    Result<graphdir::GraphDir> graph = graphdir::load_graph_dir(sample_.graph_paths[index]);
    if (!graph) return to_failure(graph.error());
    texts_.before = fx::print_model(graph->graph);

    if (auto known = learn_hardware(); !known) return known.error();
    if (auto loaded = load_graph(reference_, kId, graph->graph, {}, {}, timeout_); !loaded) return loaded.error();

    record.stage = Stage::Inputs;
    Answer<Bundle> replayed = replay_inputs(reference_, kId, *graph, options_.seed, timeout_);
    if (!replayed) return replayed.error();
    const Bundle& inputs = tensors_.inputs = std::move(*replayed);
    if (auto set = set_inputs(reference_, kId, inputs, timeout_); !set) return set.error();

    record.stage = Stage::Reference;
    Answer<Outputs> expected = run_graph(reference_, kId, false, timeout_);
    if (!expected) return expected.error();
    tensors_.expected = std::move(expected->tensors);

    record.stage = Stage::Match;
    Rewritten rewritten;
    std::vector<std::vector<pass::BuiltKernel>> kernels;
    rewritten.graph = graph->graph;
    if (options_.compiler == "passes") {
      if (auto failure = rewrite_graph(graph->graph, inputs, record, rewritten)) return failure;
      add_rewritten(texts_, rewritten);
      if (rewritten.sites() == 0) {
        // Declined everywhere: the graph is what it was, and there is nothing to compare or to time.
        record.stage = Stage::Done;
        return std::nullopt;
      }
      record.stage = Stage::Build;
      auto built = build_kernels(rewritten, *passes_, options_.build, architecture_);
      if (!built) return to_failure(built.error());
      kernels = std::move(*built);
    }

    record.stage = Stage::Load;
    if (auto hello = start_up(candidate_); !hello) return hello.error();
    if (auto loaded =
            load_graph(candidate_, kId, rewritten.graph, rewritten.lists, kernels, timeout_, options_.cuda_graph);
        !loaded)
      return loaded.error();
    if (auto set = set_inputs(candidate_, kId, inputs, timeout_); !set) return set.error();

    record.stage = Stage::Run;
    Answer<Outputs> found = run_graph(candidate_, kId, true, timeout_);
    const auto placed = [&](const Failure& failure) {
      return passes_ ? with_source_line(failure, rewritten, *passes_, kernels) : failure;
    };
    if (!found) return placed(found.error());

    record.stage = Stage::Compare;
    if (auto compared = compare_outputs(reference_, kId, *found, record, timeout_); !compared) return compared.error();
    tensors_.found = std::move(found->tensors);

    if (options_.timed) {
      record.stage = Stage::Time;
      const MeasureOptions how{options_.warmup, options_.trials, timeout_, options_.gpu.has_value()};
      Answer<Measured> measured = measure({reference_, kId}, {candidate_, kId}, how);
      if (!measured) return placed(measured.error());
      record.reference = std::move(measured->reference);
      record.candidate = std::move(measured->candidate);
      record.disturbed = measured->disturbed;
      record.load = measured->load;
      record.deterministic = measured->changed_calls == 0;
      if (options_.compiler == "passes" && !controlled_) record.control = measure_control(graph->graph, inputs, how);
      if (!options_.rival.empty()) record.rival = measure_rival(graph->graph, inputs, how);
    }
    if (options_.profile) {
      Answer<record::Profile> profile =
          profile_graph(candidate_, kId, rewritten.graph, rewritten.lists, kProfiledCalls, timeout_);
      if (!profile) return placed(profile.error());
      record.profile = std::move(*profile);
    }
    record.stage = Stage::Done;
    return std::nullopt;
  }

  // The A/A control of the sample, on the graph that was just timed: the candidate runs it without passes, operator by operator as
  // the reference does. None when the candidate cannot; whatever that is, it has nothing to do with this graph's own result.
  std::optional<record::Control> measure_control(const ir::Graph& graph, const Bundle& inputs,
                                                 const MeasureOptions& how) {
    controlled_ = true;
    if (!load_graph(candidate_, kControlId, graph, {}, {}, timeout_)) return std::nullopt;
    if (!set_inputs(candidate_, kControlId, inputs, timeout_)) return std::nullopt;
    if (!run_graph(candidate_, kControlId, false, timeout_)) return std::nullopt;
    Answer<Measured> measured = measure({reference_, kId}, {candidate_, kControlId}, how);
    if (!measured) return std::nullopt;
    return record::Control{std::move(measured->reference), std::move(measured->candidate), measured->disturbed};
  }

  // Another compiler on the same graph and inputs, against the same reference. What goes wrong there is its problem, not the graph's.
  record::Rival measure_rival(const ir::Graph& graph, const Bundle& inputs, MeasureOptions how) {
    record::Rival rival;
    rival.name = options_.rival;
    how.timeout = std::max<std::chrono::milliseconds>(how.timeout, kCompileTimeout);
    const auto give_up = [&](const Failure& failure) {
      rival.problem = failure.error.message;
      return rival;
    };
    if (!rival_ || !rival_->alive()) {
      PyTorchOptions pytorch;
      pytorch.threads = threads_;
      pytorch.processors = options_.processors;
      pytorch.on_gpu = options_.gpu.has_value();
      pytorch.interrupted = options_.interrupted;
      Result<Worker> started = start_pytorch(pytorch);
      if (!started) return give_up(to_failure(started.error()));
      rival_.emplace(std::move(*started));
      if (auto hello = greet(*rival_, kCompileTimeout); !hello) return give_up(hello.error());
    }
    if (auto loaded = load_graph(*rival_, kId, graph, {}, {}, how.timeout); !loaded) return give_up(loaded.error());
    if (auto set = set_inputs(*rival_, kId, inputs, how.timeout); !set) return give_up(set.error());
    Answer<Outputs> found = run_graph(*rival_, kId, true, how.timeout);
    if (!found) return give_up(found.error());
    record::RunRecord checked;
    if (auto compared = compare_outputs(reference_, kId, *found, checked, how.timeout); !compared)
      return give_up(compared.error());
    checked.stage = Stage::Done;
    rival.passes_from = record::judge(checked).passes_from;
    Answer<Measured> measured = measure({reference_, kId}, {*rival_, kId}, how);
    if (!measured) return give_up(measured.error());
    rival.reference = std::move(measured->reference);
    rival.candidate = std::move(measured->candidate);
    rival.disturbed = measured->disturbed;
    return rival;
  }

  std::optional<Failure> rewrite_graph(const ir::Graph& graph, const Bundle& inputs, record::RunRecord& record,
                                       Rewritten& rewritten) {
    if (!passes_) return to_failure(passes_.error());
    if (!names_checked_) {
      if (auto checked = check_pattern_names(*passes_, reference_, timeout_); !checked) return checked.error();
      names_checked_ = true;
    }
    Answer<Rewritten> applied =
        rewrite_or_fail(reference_, kTraceId, graph, inputs, *passes_,
                        {timeout_, options_.gpu.has_value(), options_.strict, options_.build}, record.passes);
    if (!applied) return applied.error();
    rewritten = std::move(*applied);
    return std::nullopt;
  }

  // What the reference says of the machine; asked once.
  Answer<void> learn_hardware() {
    if (!hardware_.empty()) return {};
    Answer<Hello> hello = start_up(reference_);
    if (!hello) return tl::unexpected(hello.error());
    versions_ = versions_of(options_, *hello);
    hardware_ = fmt::format("{}, torch {}", hello->hardware, hello->torch);
    architecture_ = hello->architecture;
    return {};
  }

  // A lost worker is replaced before the next graph.
  Result<void> revive(Worker& worker) { return worker.alive() ? Result<void>{} : worker.start(); }

  // Frees the graph on both sides, and notes what it took of a GPU's memory.
  void forget(record::RunRecord& record) {
    for (const char* id : {kTraceId, kId}) note_memory(forget_graph(reference_, id, timeout_), record.reference_memory);
    for (const char* id : {kControlId, kId})
      note_memory(forget_graph(candidate_, id, timeout_), record.candidate_memory);
    if (rival_) forget_graph(*rival_, kId, timeout_);
  }
  static void note_memory(const record::DeviceMemory& used, record::DeviceMemory& memory) {
    memory = {std::max(memory.peak_bytes, used.peak_bytes), used.kept_bytes};
  }

  static constexpr const char* kId = "graph";
  static constexpr const char* kTraceId = "traced";
  static constexpr const char* kControlId = "control";

  const graphdir::Sample& sample_;
  const EvaluateOptions& options_;
  const int threads_;
  const std::chrono::milliseconds timeout_;
  Worker reference_, candidate_;
  std::optional<Worker> rival_;  // PyTorch's compiler, once it was needed
  Result<std::vector<pass::Pass>> passes_;
  record::Provenance::Hashes pass_hashes_;
  std::string hardware_, architecture_;
  std::map<std::string, std::string> versions_;
  GraphTensors tensors_;
  bool names_checked_ = false;  // the patterns call what there is
  record::GraphTexts texts_;
  bool controlled_ = false;  // the sample has its A/A control
};

}  // namespace

int available_threads() { return std::max<int>(1, static_cast<int>(available_processors().size())); }

Result<void> evaluate_sample(const graphdir::Sample& sample, const EvaluateOptions& options,
                             const EvaluateHooks& hooks) {
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
    PASSNET_TRY(const record::RunRecord record, evaluation.evaluate(i));
    // What an interrupt cut short is not a result.
    if (options.interrupted && *options.interrupted) return resource_error("interrupted");
    if (hooks.texts) PASSNET_TRY_VOID(hooks.texts(record.graph, evaluation.texts()));
    PASSNET_TRY_VOID(hooks.finished(record));
    if (hooks.tensors) PASSNET_TRY_VOID(hooks.tensors(sample.graph_names[i], evaluation.tensors()));
  }
  return {};
}

}  // namespace passnet::run
