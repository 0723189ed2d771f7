// passnet eval: samples in, verdicts, times and scores out.
#include <fmt/format.h>
#include <sys/ioctl.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>
#include <optional>
#include <span>

#include "base/file/file.h"
#include "base/shard.h"
#include "base/text/strings.h"
#include "base/usage.h"
#include "choose_graphs.h"
#include "command.h"
#include "graphdir/sample.h"
#include "options.h"
#include "record/score/score.h"
#include "record/verdict.h"
#include "record_code.h"
#include "report/html/page.h"
#include "report/json.h"
#include "report/progress.h"
#include "report/table.h"
#include "run/batch/batch.h"
#include "run/evaluate/candidate_kind.h"
#include "run/keep/run_directory.h"
#include "run/keep/workspace.h"
#include "run/worker/worker.h"
#include "sandbox/isolation.h"
#include "sides.h"
#include "upstream_config.h"

namespace passnet::cli {

namespace {

struct EvalFlags {
  std::vector<std::string> paths;
  run::BatchOptions batch;
  bool force = false;
  std::string device = "cpu";
  std::string root;                 // of the lines of lists
  std::string filter;               // of graphs; empty: all
  Shard shard;                      // of samples
  std::filesystem::path workspace;  // upstream's; empty: none
  std::string config;               // upstream's; empty: none
  std::filesystem::path order;      // a file; empty: as listed
  bool json = false;
};

// Columns of the terminal; no limit where stdout is a file or a pipe.
int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col
                                                                           : std::numeric_limits<int>::max();
}

// "correct 2.31x": what the log says of a finished graph; no speedup of what is not correct or was not measured.
std::string outcome_of(const record::RunRecord& record) {
  const record::Verdict verdict = record::judge(record);
  const bool measured = verdict.correct_at(record::kCorrectT) && verdict.speedup > 0 && !record::is_declined(record);
  return measured ? fmt::format("{} {:.2f}x", record::headline(record), verdict.speedup) : record::headline(record);
}

void warn_of_isolation() {
  const record::IsolationLevel level = record::isolation_of(sandbox::describe_isolation());
  if (level >= record::kRankedIsolation) return;
  say_error("warning: {}; below '{}' nothing is in the score: 'passnet doctor' says what this machine lacks\n",
            record::describe(level), record::to_string(record::kRankedIsolation));
}

run::BatchResult evaluate(const EvalFlags& flags, const std::vector<std::filesystem::path>& samples,
                          const run::RunDirectory& directory) {
  std::optional<report::ProgressBar> progress;
  run::BatchHooks hooks;
  hooks.waiting = say_waiting;
  hooks.again = say_again;
  hooks.planned = [&](size_t graphs) { progress.emplace(graphs); };
  hooks.started = [&](const std::string& sample, const std::string& graph) { progress->start(sample + "/" + graph); };
  hooks.finished = [&, is_latest = false](const record::RunRecord& record) mutable {
    if (!is_latest) {
      is_latest = true;
      if (const Result<void> pointed = directory.become_latest(); !pointed) report_error(pointed.error());
    }
    progress->finish(record.sample + "/" + record.graph, outcome_of(record));
  };
  return run::evaluate_batch(samples, flags.batch, hooks);
}

Result<run::RunDirectory> open_directory(const EvalFlags& flags, const std::vector<std::filesystem::path>& samples) {
  run::RunRequest request;
  request.out = flags.batch.out;
  for (const std::filesystem::path& sample : samples) {
    PASSNET_TRY(const graphdir::Sample listed, graphdir::load_sample(sample));
    request.samples.push_back(listed.name);
  }
  request.resume = flags.batch.resume;
  request.force = flags.force;
  return run::RunDirectory::open(request);
}

// Upstream's configuration, where options of ours do not say otherwise.
Result<void> apply_config(const std::string& text, const std::vector<std::filesystem::path>& samples,
                          pass::Selection& selection, std::filesystem::path& match_result) {
  if (text.empty()) return {};
  PASSNET_TRY(UpstreamConfig config, parse_upstream_config(text));
  match_result = config.match_result;
  if (selection.given.empty()) selection.given = config.selection.given;
  if (!selection.pattern_limit) selection.pattern_limit = config.selection.pattern_limit;
  if (!selection.function_limit) selection.function_limit = config.selection.function_limit;
  for (const std::filesystem::path& sample : samples) {
    std::error_code failed;
    const std::filesystem::path own = sample / "pass_dir";
    if (config.pass_dir.empty() || std::filesystem::equivalent(own, config.pass_dir, failed)) continue;
    return usage_error(fmt::format("--config: 'output_pass_rule_dir' is {}, expected the passes of the sample, {}",
                                   quoted(config.pass_dir.string(), 200), quoted(own.string(), 200)));
  }
  return {};
}

Result<void> check_together(const EvalFlags& flags) {
  const run::EvaluateOptions& options = flags.batch.evaluate;
  if (run::candidate_kind(options.compiler).needs_pytorch() && options.profile) {
    return usage_error(fmt::format("--profile with --sides {}, expected passes or eager", options.compiler))
        .with_hint("it tells the launches of passes and the operators of our own eager");
  }
  if (!run::candidate_kind(options.compiler).has_passes && options.host_code != run::HostCode::Read)
    return usage_error(fmt::format("host code in Python with --sides {}, expected passes", options.compiler));
  return {};
}

// The names of a few samples, or how many there are.
std::string title_of(const std::vector<std::filesystem::path>& samples) {
  constexpr size_t kMostNamed = 3;
  if (samples.size() > kMostNamed) return fmt::format("{} samples", samples.size());
  std::vector<std::string> names;
  for (const std::filesystem::path& sample : samples) names.push_back(sample.filename().string());
  return join(names, ", ");
}

// What upstream's entry.sh leaves behind, for whoever reads that.
Result<void> leave_outcome(const EvalFlags& flags, const std::filesystem::path& match_result,
                           const run::BatchResult& result) {
  if (interrupted() || result.error) return {};
  const bool matched = std::ranges::any_of(result.records, [](const record::RunRecord& record) {
    return std::ranges::any_of(record.passes, [](const record::PassOutcome& pass) { return pass.matches > 0; });
  });
  if (!match_result.empty()) PASSNET_TRY_VOID(write_file(match_result, std::string_view(matched ? "True" : "False")));
  if (flags.workspace.empty()) return {};
  if (run::candidate_kind(flags.batch.evaluate.compiler).has_passes)
    say_error("Has Any pass matched? [{}]\n", matched ? "True" : "False");
  PASSNET_TRY_VOID(run::write_workspace(flags.workspace, result.records, flags.batch.out));
  say_error("Result is saved to {}\n", (flags.workspace / run::kWorkspaceScore).string());
  return {};
}

/// Prints the records, and writes the report beside them.
/// shown: the directory of the run as the user named it.
void show(const EvalFlags& flags, const std::vector<record::RunRecord>& records, const std::string& title,
          const std::filesystem::path& shown) {
  const record::Score score = record::score(record::judge_all(records));
  const Result<void> written =
      write_file(flags.batch.out / "report.html",
                 report::render_html(records, score, title, report::load_sources(flags.batch.out, records)));
  if (!written) report_error(written.error());
  if (flags.json) return print_result(report::render_json(records, score));
  print_result(report::render_table(records, terminal_width(), use_color()), Keeps::Colors);
  if (written) print_result(fmt::format("\nrecords and report: {}\n", (shown / "report.html").string()));
}

Result<ExitCode> eval_command(EvalFlags& flags) {
  PASSNET_TRY_VOID(check_together(flags));
  if (!flags.workspace.empty()) PASSNET_TRY_VOID(run::clear_workspace(flags.workspace));
  PASSNET_TRY(flags.batch.evaluate.gpu, run::parse_device(flags.device));
  PASSNET_TRY_VOID(settle_slots(flags.batch.evaluate.gpu, flags.batch.slots));
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.paths, flags.root));
  PASSNET_TRY(ChosenGraphs chosen, choose_graphs(paths, flags.filter, flags.shard));
  const std::vector<std::filesystem::path>& samples = chosen.samples;
  if (!flags.shard.is_whole()) flags.batch.shard = to_string(flags.shard);
  if (samples.empty()) say_empty_shard(flags.shard, chosen.elsewhere, "sample");
  flags.batch.only = std::move(chosen.only);
  std::filesystem::path match_result;
  pass::Selection& selection = flags.batch.evaluate.selection;
  PASSNET_TRY_VOID(apply_config(flags.config, samples, selection, match_result));
  if (flags.batch.evaluate.host_code == run::HostCode::Python &&
      (selection.pattern_limit || selection.function_limit)) {
    return usage_error("a limit of patterns or functions with --host-code python, expected none")
        .with_hint("which passes are within it is told by reading them");
  }
  if (!flags.order.empty()) {
    PASSNET_TRY(selection.order, pass::read_pass_order(flags.order));
  }
  PASSNET_TRY(const run::RunDirectory directory, open_directory(flags, samples));
  flags.batch.out = directory.path();
  warn_of_isolation();
  const run::BatchResult result = evaluate(flags, samples, directory);
  if (!result.records.empty()) show(flags, result.records, title_of(samples), directory.shown());
  const Result<void> left = leave_outcome(flags, match_result, result);
  if (interrupted() && result.records.empty()) {
    say_error("interrupted: no graph was finished\n");
    return kInterrupted;
  }
  if (interrupted()) {
    say_error("interrupted: {} finished graphs are kept in '{}'; go on with --resume\n", result.records.size(),
              directory.shown().string());
    return kInterrupted;
  }
  if (result.error) return *result.error;
  if (const auto failed = std::ranges::count_if(result.records, record::is_environment_failure); failed > 0) {
    say_error(
        "not evaluated: {} of {} graphs, for reasons outside the passes; they count in no score, and --resume "
        "evaluates them again\n",
        failed, result.records.size());
    return kResource;
  }
  PASSNET_TRY_VOID(left);
  return exit_code_of(result.records);
}

// Which passes apply, and what upstream's scripts hand over. Each may be given again: the last one counts, so that a
// script can have defaults.
void add_selection_options(CLI::App& command, EvalFlags& flags) {
  pass::Selection& selection = flags.batch.evaluate.selection;
  const auto last = [](CLI::Option* option) { option->take_last(); };
  last(command.add_option(
      "--input-pass-dir", selection.given,
      "directory of passes to apply before the sample's; of two with one name the sample's is applied"));
  last(command.add_option("--pass-order", flags.order,
                          "JSON list of names: order of all passes, or of those in --input-pass-dir"));
  last(command
           .add_option("--pass-pattern-limit", selection.pattern_limit,
                       "keep only the sample's passes with the first N distinct patterns")
           ->check(integer_in(1, 1000000)));
  last(command
           .add_option("--pass-replacement-func-limit", selection.function_limit,
                       "keep only passes with the first N distinct results of replacement_func")
           ->check(integer_in(1, 1000000)));
  last(command.add_option("--config", flags.config,
                          "configuration of PassBench's pass manager, as JSON or base64 of JSON"));
  last(add_root_option(command, flags.root));
  last(command.add_option(
      "--workspace", flags.workspace,
      "also write validation.log and aggregated_score.json here, where PassBench's tools look for them"));
}

void add_flags(CLI::App* command, EvalFlags& flags) {
  run::EvaluateOptions& options = flags.batch.evaluate;
  command
      ->add_option("PATH", flags.paths,
                   "samples, graphs of samples (SAMPLE/graphs/GRAPH), or text files that list samples")
      ->required();
  command->add_option("--filter", flags.filter, "evaluate only graphs whose SAMPLE/GRAPH contains this text");
  add_shard_option(*command, flags.shard, "samples");
  add_out_option(*command, flags.batch.out,
                 "directory for records and reports; default: a new one in passnet-out, linked as passnet-out/latest");
  CLI::Option* resume = command->add_flag("--resume", flags.batch.resume,
                                          "continue the run in --out (default: passnet-out/latest); keep records whose "
                                          "graph, pass, kernels, options and versions are unchanged");
  command->add_flag("--force", flags.force, "delete the records in --out and start over")
      ->excludes(resume)
      ->needs("--out");
  add_json_flag(*command, flags.json);
  add_sides_option(*command, options);
  add_device_option(*command, flags.device);
  add_slot_options(*command, flags.batch.slots, "samples");
  add_wait_options(*command, options);
  command
      ->add_option("--cuda-graph", options.cuda_graph, "replay calls as a CUDA graph: auto (where possible), on, off")
      ->check(one_of({"auto", "on", "off"}))
      ->capture_default_str();
  add_timing_options(*command, options.warmup, options.trials);
  add_drawn_seed_option(*command, flags.batch.seed, "seed of the inputs");
  command->add_option("--threads", options.threads, "threads of each side; default: all processors")
      ->check(integer_in(1, 1024));
  add_timeout_option(*command, options.timeout_s, "time limit of a worker's request, in seconds");
  command->add_flag("--profile", options.profile,
                    "time each launch of a call, and compare it with the machine's bandwidth");
  add_library_flag(*command, options.allow_library);
  add_matching_option(*command, options.strict, options.generalize);
  add_host_code_options(*command, options.host_code);
  add_selection_options(*command, flags);
  group_options(*command, {{"Input", {"--filter", "--root", "--shard", "--resume", "--force"}},
                           {"Matching and plans", {"--matching", "--allow-library", "--host-code"}},
                           {"Machine", {"--device", "--jobs", "--overlap", "--threads", "--wait", "--timeout"}},
                           {"Timing", {"--sides", "--warmup", "--trials", "--seed", "--cuda-graph", "--profile"}},
                           {"Output", {"--out", "--json"}},
                           {"Compatibility with PassBench's own tools",
                            {"--input-pass-dir", "--pass-order", "--pass-pattern-limit",
                             "--pass-replacement-func-limit", "--config", "--workspace"}}});
  command->footer("Example:  passnet eval samples/vit_add_layer_norm --out my-run");
}

}  // namespace

void add_eval(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "check, time and score the passes of samples");
  add_flags(command, *flags);
  command->callback([flags, &exit_code] {
    catch_interrupts();
    flags->batch.evaluate.interrupted = &interrupted();
    const Result<ExitCode> done = eval_command(*flags);
    exit_code = done ? *done : report_error(done.error());
  });
}

}  // namespace passnet::cli
