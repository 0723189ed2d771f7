#include "run/evaluate/evaluate.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <chrono>
#include <filesystem>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "base/processors.h"
#include "base/utc.h"
#include "fx/print.h"
#include "graphdir/graph_facts.h"
#include "pass/source.h"
#include "record/stats.h"
#include "record/verdict.h"
#include "run/apply/build_kernels.h"
#include "run/apply/graph_texts.h"
#include "run/apply/pattern_names.h"
#include "run/apply/run_passes.h"
#include "run/apply/select_passes.h"
#include "run/apply/tune.h"
#include "run/evaluate/candidate_kind.h"
#include "run/evaluate/graph_floor.h"
#include "run/evaluate/judge_values.h"
#include "run/evaluate/prepared_reference.h"
#include "run/evaluate/provenance.h"
#include "run/machine/turns.h"
#include "run/measure/measure.h"
#include "run/worker/package.h"
#include "run/worker/python_files.h"
#include "run/worker/pytorch.h"

namespace passnet::run {

namespace {

using Clock = std::chrono::steady_clock;
using record::Stage;

constexpr int kProfiledCalls = 50;

/// For one request to a worker.
std::chrono::milliseconds timeout_of(const EvaluateOptions& options) {
  return std::max(std::chrono::milliseconds(static_cast<int64_t>(options.timeout_s * 1000)),
                  candidate_kind(options.compiler).is_compiled ? kCompileTimeout : std::chrono::milliseconds(0));
}

pass::BuildOptions build_options(const EvaluateOptions& options) {
  pass::BuildOptions build = without_layers(options.build, options.without);
  build.interrupted = options.interrupted;
  return build;
}

/// One sample's passes on its graphs, beside a reference that others may be evaluated against too.
class SampleEvaluation {
 public:
  /// files: of the passes. candidate: index of its side in the workers.
  SampleEvaluation(const graphdir::Sample& sample, const SourceFiles& files, const EvaluateOptions& options,
                   EvaluationWorkers& workers, size_t candidate)
      : sample_(sample),
        files_(files),
        options_(options),
        build_(build_options(options)),
        timeout_(timeout_of(options)),
        workers_(workers),
        candidate_(candidate),
        kind_(&candidate_kind(options.compiler)) {}

  // Both workers come up while the passes are read and the first graph is parsed.
  Result<void> start() {
    if (kind_->has_passes) {
      // Loaded once: a pass that cannot be read fails every graph with the same words.
      Result<SelectedPasses> selected =
          select_passes(files_, sample_, options_.selection, {options_.allow_library, options_.interrupted});
      if (selected) surplus_ = selected->surplus;
      passes_ = selected ? Result<std::vector<pass::Pass>>(std::move(selected->passes)) : selected.error();
    }
    if (!options_.second_candidate.empty() || !options_.baseline.empty() || kind_->needs_pytorch())
      PASSNET_TRY_VOID(find_pytorch_worker());
    return {};
  }

  /// prepared: of the graph at `index`. others_follow: who are evaluated on it next.
  Result<record::RunRecord> evaluate(size_t index, PreparedReference& prepared, bool others_follow) {
    const auto begin = Clock::now();
    prepared_ = &prepared;
    others_follow_ = others_follow;
    workers_.turn_to(candidate_);
    Tried tried = {};
    PASSNET_TRY(tried, attempt(index, {}));
    if (tried.failure && needs_python(tried)) {
      PASSNET_TRY(tried, attempt(index, to_string(*tried.failure)));
    }
    const bool is_interrupted = options_.interrupted && *options_.interrupted;  // whoever asked drops the record
    if (tried.failure && tried.failure->retry && !is_interrupted) {
      // What is wrong with the GPU may be what these workers hold of it, or have done to it.
      const std::string why = to_string(*tried.failure);
      log::warn(fmt::format("{}: evaluated anew in fresh workers: {}", tried.record.graph, why));
      workers_.stop();
      PASSNET_TRY(tried, attempt(index, tried.record.why_python));
      tried.record.retried = why;
    }
    record::RunRecord& record = tried.record;
    if (tried.failure) {
      record.error_kind = failure_kind(*tried.failure);
      record.error = to_string(*tried.failure);
    }
    record.hardware = machine_.hardware;
    record.evaluate_seconds = std::chrono::duration<double>(Clock::now() - begin).count();
    return record;
  }

  /// Of the graph that was evaluated last.
  GraphTensors tensors() const { return {prepared_->inputs(), prepared_->expected(), found_}; }
  const record::GraphTexts& texts() const { return texts_; }

 private:
  struct Tried {
    record::RunRecord record;
    std::optional<Error> failure;  // why it ended early
  };

  // Whether our reader could not read the passes, and Python may.
  bool needs_python(const Tried& tried) const {
    if (options_.host_code != HostCode::Fallback || tried.record.stage != Stage::Match) return false;
    if (has_limits(options_.selection)) return false;
    static constexpr std::array<std::string_view, 3> kUnread = {"bad-pass", "library-call", "unsupported"};
    return std::ranges::find(kUnread, failure_kind(*tried.failure)) != kUnread.end();
  }

  // Evaluates a graph once, in the workers that run; those that are lost are replaced. why_python: why not by our reader.
  Result<Tried> attempt(size_t index, const std::string& why_python) {
    Tried tried;
    record::RunRecord& record = tried.record;
    kind_ = &candidate_kind(options_.compiler);
    if (kind_->has_passes && (options_.host_code == HostCode::Python || !why_python.empty())) kind_ = &kHostCode;
    workers_.use_python(kind_->runs_host_code);
    if (kind_->runs_host_code) record.host_code = record::kPythonHostCode;
    record.why_python = why_python;
    record.sample = sample_.name;
    record.graph = sample_.graph_names[index];
    record.kind = graphdir::kind_for_record(sample_.path, sample_.graph_paths[index]);
    record.compiler = options_.compiler;
    record.device = options_.gpu ? fmt::format("cuda:{}", *options_.gpu) : "cpu";
    record.threads = workers_.threads();
    record.seed = options_.seed;
    record.started = utc_now();
    record.surplus = surplus_;
    record::Provenance made_of = provenance_of(files_, prepared_->files(), sample_, index, options_, {});
    found_ = {};
    texts_ = {};
    objects_ = {};
    PASSNET_TRY_VOID(workers_.revive());
    if (Result<void> done = walk(record); !done) tried.failure = std::move(done).error();
    // Whoever answered there, it is not known what else is on its way.
    if (kind_->runs_host_code && tried.failure && failure_kind(*tried.failure) == "nonsense") candidate().stop();
    forget_findings(options_.without, record);
    forget(record);
    made_of.versions = machine_.versions;
    made_of.objects = std::move(objects_);
    made_of.isolation = workers_.isolation();
    if (!made_of.isolation.empty()) made_of.isolation_level = record::isolation_of(made_of.isolation);
    record.provenance = std::move(made_of);
    return tried;
  }

  bool is_off(Layer layer) const { return options_.without.contains(layer); }

  // The graph as the candidate has it.
  struct Rebuilt {
    Rewritten rewritten;
    BuiltLists built;
    std::optional<Package> package;  // that the rewritten graph calls
  };

  // Parse to Done, stage by stage (docs/records.md, "How a graph becomes a record"). Errors: why it ended early; of a
  // kernel, with the line of its source.
  Result<void> walk(record::RunRecord& record) {
    Rebuilt rebuilt;
    Result<void> done = walk_stages(record, rebuilt);
    // On the inputs that launches were made for, the shapes are what they were.
    if (!done && done.error().failure == kOtherShapes) done = Error(done.error()).with_failure("internal");
    if (!done && passes_) return with_source_line(done.error(), rebuilt.rewritten, *passes_, rebuilt.built.kernels);
    return done;
  }

  Result<void> walk_stages(record::RunRecord& record, Rebuilt& rebuilt) {
    record.stage = Stage::Parse;
    PASSNET_TRY_VOID(prepared_->parse());
    graphdir::GraphDir& graph = prepared_->graph();
    texts_.before = fx::print_model(graph.graph);
    PASSNET_TRY(machine_, workers_.machine());
    if (kind_->reads_passes() && !passes_) {
      record.stage = Stage::Match;
      return passes_.error();
    }
    PASSNET_TRY_VOID(prepared_->load());

    record.stage = Stage::Inputs;
    PASSNET_TRY_VOID(prepared_->draw_inputs());

    record.stage = Stage::Reference;
    PASSNET_TRY_VOID(prepared_->run());

    rebuilt.rewritten.graph = graph.graph;
    if (kind_->runs_host_code) {
      PASSNET_TRY_VOID(rebuild_in_python(graph.graph, record));
    } else if (kind_->has_passes) {
      PASSNET_TRY_VOID(rebuild(graph.graph, record, rebuilt));
      // Declined everywhere: the graph is what it was, and there is nothing to compare or to time.
      if (rebuilt.rewritten.sites() == 0) return {};
    } else if (kind_->is_packaged) {
      PASSNET_TRY_VOID(compile_ahead(graph.graph, record, rebuilt));
    }
    const Rewritten& rewritten = rebuilt.rewritten;

    record.stage = Stage::Load;
    int64_t calls_at_once = 1;
    if (!kind_->runs_host_code) {
      PASSNET_TRY(calls_at_once, load(rebuilt, record));
    }
    PASSNET_TRY_VOID(set_inputs(candidate(), kId, prepared_->inputs(), timeout_));

    PASSNET_TRY_VOID(run_and_compare(graph, record));
    if (options_.timed) PASSNET_TRY_VOID(time(graph.graph, calls_at_once, record));
    if (options_.profile && !kind_->runs_host_code) {
      PASSNET_TRY(record.profile,
                  profile_graph(candidate(), kId, rewritten.graph, rebuilt.built.lists, kProfiledCalls, timeout_));
    }
    record.stage = Stage::Done;
    return {};
  }

  // Run and Compare: one checked call of the candidate, against the reference's.
  Result<void> run_and_compare(graphdir::GraphDir& graph, record::RunRecord& record) {
    record.stage = Stage::Run;
    const bool is_ours_on_gpu = options_.gpu && kind_->is_ours();
    const bool stays_there = is_ours_on_gpu && !prepared_->shares_outputs();
    wire::DeviceRoom room;
    if (stays_there) {
      PASSNET_TRY(room, make_room(reference(), kId, timeout_));
    }
    PASSNET_TRY(Outputs found, run_into(candidate(), kId, room, timeout_));

    record.stage = Stage::Compare;
    PASSNET_TRY_VOID(compare_outputs(reference(), kId, found, record, timeout_));
    forget_findings(options_.without, record);
    if (!is_off(Layer::Budgets) && record::judge(record).status == record::Status::Correct) {
      const ComparedGraph compared{reference(), candidate(), kId, graph, found, is_ours_on_gpu, prepared_->is_kept()};
      PASSNET_TRY_VOID(judge_values(compared, options_.seed, timeout_, record));
    }
    if (prepared_->shares_outputs()) found_ = std::move(found.tensors);
    return {};
  }

  // Load. Returns: calls that can be handed over at once.
  Result<int64_t> load(Rebuilt& rebuilt, record::RunRecord& record) {
    workers_.end_host_code();
    PASSNET_TRY_VOID(workers_.await_candidate());
    if (rebuilt.package) {
      PASSNET_TRY_VOID(
          load_package(candidate(), kId, rebuilt.rewritten.graph, *rebuilt.package, timeout_, options_.cuda_graph));
      return 1;
    }
    // On the CPU kernels run in a process of their own, which ends with the graph.
    BuiltLists& built = rebuilt.built;
    if (!built.kernels.empty() && options_.gpu) workers_.expect_foreign_code();
    PASSNET_TRY(record.tuned, tune(candidate(), rebuilt.rewritten.graph, prepared_->inputs(), timeout_, built));
    return load_graph(candidate(), kId, rebuilt.rewritten.graph, built.lists, built.kernels, timeout_,
                      options_.cuda_graph, {!is_off(Layer::Poison), !is_off(Layer::Canaries)});
  }

  // Match, where the candidate in Python does it all: it executes the passes and puts them into the graph.
  Result<void> rebuild_in_python(const ir::Graph& graph, record::RunRecord& record) {
    record.stage = Stage::Match;
    PASSNET_TRY_VOID(workers_.await_candidate());
    PASSNET_TRY(const std::vector<std::filesystem::path> files, files_to_apply(files_, sample_, options_.selection));
    PASSNET_TRY(const std::vector<std::filesystem::path> copies, copy_passes(files, files_, workers_.python_passes()));
    workers_.expect_foreign_code();
    PASSNET_TRY(record.passes, load_in_python(candidate(), kId, graph, copies, timeout_));
    return require_match(record.passes);
  }

  // Build, by a compiler of PyTorch's.
  Result<void> compile_ahead(const ir::Graph& graph, record::RunRecord& record, Rebuilt& rebuilt) {
    record.stage = Stage::Build;
    PASSNET_TRY(Worker* const compiler, workers_.packager());
    const std::string made_by =
        fmt::format("{}, {}, {}", machine_.versions[kAotInductorVersion], machine_.hardware, record.device);
    PASSNET_TRY(rebuilt.package, find_or_make_package(*compiler, {graph, prepared_->inputs().entries, made_by},
                                                      std::max(timeout_, kCompileTimeout)));
    objects_ = {{"package", rebuilt.package->sha256}};
    PASSNET_TRY(rebuilt.rewritten.graph, packaged_graph(graph, rebuilt.package->outputs));
    return {};
  }

  // Match and Build; Done where every site was declined.
  Result<void> rebuild(const ir::Graph& graph, record::RunRecord& record, Rebuilt& rebuilt) {
    record.stage = Stage::Match;
    if (!names_checked_) PASSNET_TRY_VOID(check_pattern_names(*passes_, reference(), timeout_));
    names_checked_ = true;
    const PassRunOptions how{
        timeout_, options_.gpu.has_value(), {options_.strict, options_.generalize}, build_, !is_off(Layer::PlanLimits)};
    PASSNET_TRY(rebuilt.rewritten, rewrite_or_fail(reference(), kId, graph, *passes_, how, record.passes));
    add_rewritten(texts_, rebuilt.rewritten);
    if (rebuilt.rewritten.sites() == 0) {
      record.stage = Stage::Done;
      return {};
    }
    record.stage = Stage::Build;
    PASSNET_TRY(rebuilt.built, build_kernels(rebuilt.rewritten, *passes_, build_, machine_.architecture));
    objects_ = hash_objects(rebuilt.built.kernels);
    return {};
  }

  Result<void> time(const ir::Graph& graph, int64_t calls_at_once, record::RunRecord& record) {
    record.stage = Stage::Time;
    workers_.settle();
    const auto asked = Clock::now();
    const DeviceSlot::Use alone = timing(options_.slot);
    const auto begin = Clock::now();
    PASSNET_TRY_VOID(time_alone(graph, calls_at_once, record));
    using Ms = std::chrono::duration<double, std::milli>;
    if (options_.slot != nullptr)
      log::debug(fmt::format("{}: waited {:.1f} ms to be timed, had the device alone for {:.1f} ms", record.graph,
                             Ms(begin - asked).count(), Ms(Clock::now() - begin).count()));
    return {};
  }

  Result<void> time_alone(const ir::Graph& graph, int64_t calls_at_once, record::RunRecord& record) {
    MeasureOptions how{options_.warmup, options_.trials, timeout_, options_.gpu.has_value(), options_.seed};
    how.fresh_inputs = !is_off(Layer::FreshInputs);
    how.other_tracks = options_.other_tracks;
    how.most_s = options_.most_timing_s;
    how.audit_clocks = options_.audit_clocks && !is_off(Layer::Clocks) && !kind_->is_compiled;
    if (how.other_tracks) how.planted = floating_inputs();
    // PyTorch from Python knows no sets of inputs.
    const auto measure_it = [&]() -> Result<Measured> {
      return kind_->is_compiled
                 ? measure_on_same_inputs({reference(), kId}, {candidate(), kId}, how)
                 : measure({reference(), kId}, {candidate(), kId, calls_at_once, !kind_->runs_host_code}, how);
    };
    Result<Measured> measured = measure_it();
    if (!measured && measured.error().failure == kOtherShapes && how.fresh_inputs) {
      // Shapes depend on data in a way that is not known: they are the recorded ones on the recorded values alone.
      how.fresh_inputs = false;
      record.fixed_inputs = {record::kEveryInput};
      measured = measure_it();
    }
    if (!measured) return measured.error();
    if (!is_off(Layer::TimedCompare)) keep_worse(measured->checks, record);
    record.reference = std::move(measured->reference);
    record.candidate = std::move(measured->candidate);
    record.disturbed = measured->disturbed;
    record.load = measured->load;
    PASSNET_TRY(const Calibration machine, workers_.calibration());
    if (!is_off(Layer::Clocks))
      record.floor = floor_of(graph, machine, record::summarize(record.reference.trials_us).median);
    record.deterministic = measured->changed_calls == 0;
    how.audit_clocks = false;  // neither has another clock now
    how.planted = {};
    if (!options_.baseline.empty()) PASSNET_TRY_VOID(time_against_python(graph, how, record));
    if (kind_->is_compiled) record.candidate.mode = "torch.compile";
    if (kind_->is_packaged) record.candidate.mode = packaged_mode(record.candidate.mode);
    if (options_.control && kind_->reads_passes() && !controlled_) record.control = measure_control(graph, how);
    if (!options_.second_candidate.empty()) record.second_candidate = measure_second(graph, how);
    return {};
  }

  // Those whose contents may be drawn in any way.
  std::vector<std::string> floating_inputs() const {
    std::vector<std::string> names;
    for (const auto* records : {&prepared_->graph().inputs, &prepared_->graph().weights}) {
      for (const graphdir::TensorMeta& record : *records) {
        if (record.redraw == graphdir::Redraw::Any && ir::is_floating(record.dtype)) names.push_back(record.name);
      }
    }
    return names;
  }

  // What no call can be faster than. None where the graph's types are not to be had: it was never traced before.
  std::optional<record::Floor> floor_of(const ir::Graph& graph, const Calibration& machine, double reference_us) {
    const Result<Values> types = trace_graph(reference(), kId, graph, timeout_);
    if (!types) return std::nullopt;
    return graph_floor(graph, *types, prepared_->owned(), machine, reference_us);
  }

  // How a package is called, which is one operator: "aotinductor", or on a GPU "aotinductor, direct".
  static std::string packaged_mode(const std::string& mode) {
    return mode.empty() || mode == "operators" ? kAotInductor : fmt::format("{}, {}", kAotInductor, mode);
  }

  // An output is as right as the worst of all calls that were compared.
  static void keep_worse(const CallChecks& checks, record::RunRecord& record) {
    record.calls_compared = checks.compared;
    for (size_t i = 0; i < checks.outputs.size(); ++i) {
      const auto& check = checks.outputs[i];
      if (!check) continue;
      if (i >= record.outputs.size()) record.outputs.resize(i + 1);
      if (check->budget || check->passes_from > record.outputs[i].passes_from) {
        record::OutputCheck worse = *check;
        worse.expected_layout = record.outputs[i].expected_layout;
        worse.found_layout = record.outputs[i].found_layout;
        worse.checked_from = record.outputs[i].passes_from;
        // Of timed calls that are large some rows are compared: where the checked call was wrong tells more.
        if (record.outputs[i].mismatch) worse.mismatch = record.outputs[i].mismatch;
        record.outputs[i] = std::move(worse);
      }
    }
    for (const auto& [name, check] : checks.inputs) {
      const auto known = std::ranges::find(record.inputs, name, &record::InputCheck::name);
      if (known == record.inputs.end())
        record.inputs.push_back({name, check});
      else if (check.budget || check.passes_from > known->check.passes_from)
        known->check = check;
    }
  }

  // The A/A control of the sample, on the graph that was just timed: the candidate runs it without passes, operator by
  // operator as the reference does. None when the candidate cannot; whatever that is, it has nothing to do with this
  // graph's own result.
  std::optional<record::Control> measure_control(const ir::Graph& graph, const MeasureOptions& how) {
    controlled_ = true;
    if (!load_graph(candidate(), kControlId, graph, {}, {}, timeout_)) return std::nullopt;
    if (!share_inputs(candidate(), kControlId, kId, timeout_)) return std::nullopt;
    if (!run_graph(candidate(), kControlId, false, timeout_)) return std::nullopt;
    Result<Measured> measured = measure({reference(), kId}, {candidate(), kControlId}, how);
    if (!measured) return std::nullopt;
    return record::Control{std::move(measured->reference), std::move(measured->candidate), measured->disturbed};
  }

  // PyTorch eager from Python in the reference's place: its times stand beside those that the candidate has beside it.
  // What the candidate computes was judged before, and calls on inputs of their own were compared, against our own.
  Result<void> time_against_python(const ir::Graph& graph, MeasureOptions how, record::RunRecord& record) {
    how.timeout = std::max<std::chrono::milliseconds>(how.timeout, kCompileTimeout);
    record.stage = Stage::Reference;
    PASSNET_TRY(Worker* const python, workers_.baseline());
    PASSNET_TRY_VOID(load_graph(*python, kId, graph, {}, {}, how.timeout));
    PASSNET_TRY_VOID(set_inputs(*python, kId, prepared_->inputs(), how.timeout));
    PASSNET_TRY_VOID(run_graph(*python, kId, true, how.timeout));
    record.stage = Stage::Time;
    PASSNET_TRY(Measured measured, measure_on_same_inputs({*python, kId}, {candidate(), kId}, how));
    record.reference = std::move(measured.reference);
    record.candidate = std::move(measured.candidate);
    record.reference.baseline = options_.baseline;
    record.disturbed |= measured.disturbed;
    record.load = measured.load;
    return {};
  }

  // Another compiler on the same graph and inputs, against the same reference. What goes wrong there is its problem,
  // not the graph's.
  record::SecondCandidate measure_second(const ir::Graph& graph, MeasureOptions how) {
    record::SecondCandidate second;
    second.name = options_.second_candidate;
    how.timeout = std::max<std::chrono::milliseconds>(how.timeout, kCompileTimeout);
    if (const Result<void> done = measure_second(graph, how, second); !done) second.problem = done.error().message;
    return second;
  }

  Result<void> measure_second(const ir::Graph& graph, const MeasureOptions& how, record::SecondCandidate& second) {
    PASSNET_TRY(Worker* const python, workers_.second_candidate());
    PASSNET_TRY_VOID(load_graph(*python, kId, graph, {}, {}, how.timeout));
    PASSNET_TRY_VOID(set_inputs(*python, kId, prepared_->inputs(), how.timeout));
    PASSNET_TRY(const Outputs found, run_graph(*python, kId, true, how.timeout));
    record::RunRecord checked;
    PASSNET_TRY_VOID(compare_outputs(reference(), kId, found, checked, how.timeout));
    checked.stage = Stage::Done;
    second.passes_from = record::judge(checked).passes_from;
    PASSNET_TRY(Measured measured, measure_on_same_inputs({reference(), kId}, {*python, kId}, how));
    second.reference = std::move(measured.reference);
    second.candidate = std::move(measured.candidate);
    second.disturbed = measured.disturbed;
    return {};
  }

  // Frees the graph on both sides, on the reference's when nobody follows, and notes what it took of a GPU's memory.
  void forget(record::RunRecord& record) {
    note_memory(forget_graph(reference(), kTracedId, timeout_), record.reference_memory);
    if (!others_follow_) note_memory(prepared_->forget(), record.reference_memory);
    for (const char* id : {kControlId, kId})
      note_memory(forget_graph(candidate(), id, timeout_), record.candidate_memory);
    for (Worker* const python : workers_.running_python()) forget_graph(*python, kId, timeout_);
  }
  static void note_memory(const record::DeviceMemory& used, record::DeviceMemory& memory) {
    memory = {std::max(memory.peak_bytes, used.peak_bytes), used.kept_bytes};
  }

  Worker& reference() { return workers_.reference(); }
  Worker& candidate() { return workers_.candidate(); }

  static constexpr const char* kId = PreparedReference::kId;
  static constexpr const char* kControlId = "control";

  const graphdir::Sample& sample_;
  const SourceFiles files_;
  const EvaluateOptions& options_;
  const pass::BuildOptions build_;
  const std::chrono::milliseconds timeout_;
  EvaluationWorkers& workers_;
  const size_t candidate_;
  const CandidateKind* kind_;
  PreparedReference* prepared_ = nullptr;  // of the graph that is evaluated
  bool others_follow_ = false;
  Result<std::vector<pass::Pass>> passes_;
  std::vector<record::SurplusPass> surplus_;
  record::Provenance::Hashes objects_;
  EvaluationWorkers::Machine machine_;
  Bundle found_;
  bool names_checked_ = false;  // the patterns call what there is
  record::GraphTexts texts_;
  bool controlled_ = false;  // the sample has its A/A control
};

}  // namespace

int available_threads() { return std::max<int>(1, static_cast<int>(available_processors().size())); }

namespace {

/// What one candidate is evaluated on, and how.
struct Evaluated {
  const Candidate& candidate;
  SampleEvaluation evaluation;
};

bool skips(const Candidate& candidate, const std::string& graph) {
  return candidate.hooks.skip && candidate.hooks.skip(graph);
}

/// One graph, told to its candidate's hooks.
Result<void> evaluate_graph(size_t index, Evaluated& one, PreparedReference& prepared, bool others_follow,
                            const std::atomic<bool>* interrupted) {
  const EvaluateHooks& hooks = one.candidate.hooks;
  const std::string& graph = one.candidate.sample.graph_names[index];
  if (interrupted && *interrupted) return resource_error("interrupted");
  if (hooks.started) hooks.started(graph);
  PASSNET_TRY(const record::RunRecord record, one.evaluation.evaluate(index, prepared, others_follow));
  // What an interrupt cut short is not a result.
  if (interrupted && *interrupted) return resource_error("interrupted");
  if (hooks.texts) PASSNET_TRY_VOID(hooks.texts(record.graph, one.evaluation.texts()));
  PASSNET_TRY_VOID(hooks.finished(record));
  if (hooks.tensors) PASSNET_TRY_VOID(hooks.tensors(graph, one.evaluation.tensors()));
  return {};
}

/// Without its GPU no graph can be evaluated, so this is no record of a graph.
Result<void> require_gpu(EvaluationWorkers& workers) {
  const auto known = workers.machine();
  if (!known && failure_kind(known.error()) == "resource" && !known.error().worker_lost) return known.error();
  return {};
}

}  // namespace

Result<void> evaluate_candidates(const std::vector<Candidate>& candidates, const EvaluateOptions& options,
                                 EvaluationWorkers& workers, bool others_follow) {
  std::vector<Evaluated> all;
  bool wants_tensors = false;
  for (const Candidate& candidate : candidates) {
    const std::vector<std::string>& graphs = candidate.sample.graph_names;
    if (std::ranges::all_of(graphs, [&](const std::string& graph) { return skips(candidate, graph); })) continue;
    all.push_back({candidate, SampleEvaluation(candidate.sample, candidate.files, options, workers, all.size())});
    wants_tensors |= static_cast<bool>(candidate.hooks.tensors);
  }
  if (all.empty()) return {};
  PASSNET_TRY_VOID(workers.begin_sample(all.size()));
  for (Evaluated& one : all) PASSNET_TRY_VOID(one.evaluation.start());
  if (options.gpu) PASSNET_TRY_VOID(require_gpu(workers));
  const graphdir::Sample& graphs = all.front().candidate.sample;
  for (size_t graph = 0; graph < graphs.graph_names.size(); ++graph) {
    std::vector<Evaluated*> of_graph;
    for (Evaluated& one : all) {
      if (!skips(one.candidate, graphs.graph_names[graph])) of_graph.push_back(&one);
    }
    PreparedReference prepared(
        SourceFiles(graphs.roots, options.without.contains(Layer::SourceFiles)), graphs.graph_paths[graph],
        workers.reference(),
        {options.seed, timeout_of(options), wants_tensors, of_graph.size() > 1,
         options.without.contains(Layer::OperatorList) ? fx::Operators::All : fx::Operators::Listed});
    for (Evaluated* one : of_graph) {
      PASSNET_TRY(const Turns::Graph turn, Turns::begin_graph(options.turns));
      PASSNET_TRY_VOID(workers.start_spare(others_follow));
      PASSNET_TRY_VOID(evaluate_graph(graph, *one, prepared, one != of_graph.back(), options.interrupted));
    }
  }
  return {};
}

Result<void> evaluate_sample(const graphdir::Sample& sample, const EvaluateOptions& options,
                             const EvaluateHooks& hooks) {
  EvaluationWorkers workers(options);
  return evaluate_sample(sample, options, workers, hooks);
}

Result<void> evaluate_sample(const graphdir::Sample& sample, const EvaluateOptions& options, EvaluationWorkers& workers,
                             const EvaluateHooks& hooks) {
  return evaluate_candidates(
      {{sample, hooks, sources_of(sample, options.selection, options.without.contains(Layer::SourceFiles))}}, options,
      workers);
}

}  // namespace passnet::run
