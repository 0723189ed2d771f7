// passnet eval: samples in, verdicts, times and scores out.
#include <sys/ioctl.h>
#include <unistd.h>

#include <filesystem>
#include <memory>
#include <optional>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "base/file.h"
#include "bench/score.h"
#include "bench/verdict.h"
#include "command.h"
#include "fx/sample.h"
#include "report/html.h"
#include "report/json.h"
#include "report/progress.h"
#include "report/table.h"
#include "run/batch.h"
#include "run/worker.h"

namespace passnet::cli {

namespace {

struct EvalFlags {
  std::vector<std::string> paths;
  run::BatchOptions batch;
  std::string device = "cpu";
  bool json = false;
};

int terminal_width() {
  winsize size{};
  return ::ioctl(STDOUT_FILENO, TIOCGWINSZ, &size) == 0 && size.ws_col > 0 ? size.ws_col : 120;
}

// "correct 2.31x": what the log says of a finished graph.
std::string outcome_of(const bench::RunRecord& record) {
  const double speedup = bench::judge(record).speedup;
  return speedup > 0 ? fmt::format("{} {:.2f}x", bench::headline(record), speedup) : bench::headline(record);
}

run::BatchResult evaluate(const EvalFlags& flags, const std::vector<std::filesystem::path>& samples) {
  std::optional<report::ProgressBar> progress;
  run::BatchHooks hooks;
  hooks.waiting = [](const std::string& why) { fmt::print(stderr, "waiting: {}; two evaluations on one would spoil both\n", why); };
  hooks.planned = [&](size_t graphs) { progress.emplace(graphs); };
  hooks.started = [&](const std::string& sample, const std::string& graph) { progress->start(sample + "/" + graph); };
  hooks.finished = [&](const bench::RunRecord& record) {
    progress->finish(record.sample + "/" + record.graph, outcome_of(record));
  };
  return run::evaluate_batch(samples, flags.batch, hooks);
}

// All graphs correct at the usual tolerance (t = -5 of each dtype)?
bool all_correct(const std::vector<bench::RunRecord>& records) {
  for (const bench::RunRecord& record : records) {
    if (!bench::judge(record).correct_at(-5)) return false;
  }
  return true;
}

Result<ExitCode> eval_command(EvalFlags& flags) {
  PASSNET_TRY(flags.batch.evaluate.gpu, run::parse_device(flags.device));
  if (flags.batch.jobs > 1 && !flags.batch.evaluate.gpu) {
    return bad_input(fmt::format("--jobs {} on the CPU, expected a GPU for each job", flags.batch.jobs))
        .with_hint("--device cuda; on the CPU samples would take each other's time");
  }
  PASSNET_TRY(const std::vector<std::filesystem::path> samples, fx::expand_paths(flags.paths));
  const run::BatchResult result = evaluate(flags, samples);
  if (!result.records.empty()) {
    const bench::Score score = bench::score(bench::judge_all(result.records));
    const std::string title = samples.size() == 1 ? samples[0].filename().string() : fmt::format("{} samples", samples.size());
    const std::filesystem::path page = flags.batch.out / "report.html";
    const Result<void> written = write_file(page, report::render_html(result.records, score, title, report::load_sources(flags.batch.out, result.records)));
    if (!written) report_error(written.error());
    if (flags.json) {
      fmt::print("{}", report::render_json(result.records, score));
    } else {
      fmt::print("{}", report::render_table(result.records, terminal_width(), ::isatty(STDOUT_FILENO) == 1));
      if (written) fmt::print("\nrecords and report: {}\n", page.string());
    }
  }
  if (interrupted()) {
    fmt::print(stderr, "interrupted: {} finished graphs are kept in '{}'; go on with --resume\n", result.records.size(),
               flags.batch.out.string());
    return kInterrupted;
  }
  if (result.error) return *result.error;
  return all_correct(result.records) ? kOk : kNotAllCorrect;
}

void add_flags(CLI::App* command, EvalFlags& flags) {
  run::EvaluateOptions& options = flags.batch.evaluate;
  command->add_option("PATH", flags.paths, "sample directories, or text files that list some")->required();
  command->add_option("--out", flags.batch.out, "where records and reports go")->default_val("passnet-out");
  command->add_flag("--resume", flags.batch.resume, "go on after the records that are in --out");
  command->add_flag("--json", flags.json, "one JSON document on stdout instead of the table");
  command->add_option("--compiler", options.compiler, "passes: the sample's; eager: none, to see the noise")
      ->check(CLI::IsMember({"passes", "eager"}))->capture_default_str();
  command->add_option("--device", flags.device, "where to run: cpu, cuda or cuda:N")->capture_default_str();
  command->add_option("--jobs", flags.batch.jobs, "samples at a time, each on a GPU of its own: that of --device and those after it")
      ->check(CLI::Range(1, 128))->capture_default_str();
  command->add_option("--cuda-graph", options.cuda_graph,
                      "on a GPU, record what a call does there and repeat that: auto (where it is possible), on, off")
      ->check(CLI::IsMember({"auto", "on", "off"}))->capture_default_str();
  command->add_option("--warmup", options.warmup, "calls before timing")->check(CLI::Range(0, 1000000))->capture_default_str();
  command->add_option("--trials", options.trials, "timed calls")->check(CLI::Range(1, 1000000))->capture_default_str();
  command->add_option("--seed", options.seed, "of the replayed inputs")->capture_default_str();
  command->add_option("--threads", options.threads, "for each side; default: all processors this process may use")
      ->check(CLI::Range(1, 1024));
  command->add_option("--timeout", options.timeout_s, "seconds a worker may take for one request")
      ->check(CLI::Range(0.1, 86400.0))->capture_default_str();
  command->add_flag("--strict", options.strict, "upstream's literal matching");
  command->footer("Example:  passnet eval samples/vit_add_layer_norm --out my-run\n"
                  "Exit codes: 0 all correct, 1 not all correct, 2 usage, 3 bad input, 4 resource, 70 our bug, 130 interrupted");
}

}  // namespace

void add_eval(CLI::App& app, int& exit_code) {
  auto flags = std::make_shared<EvalFlags>();
  CLI::App* command = app.add_subcommand("eval", "evaluate the passes of samples: right, and how much faster?");
  add_flags(command, *flags);
  command->callback([flags, &exit_code] {
    catch_interrupts();
    flags->batch.evaluate.interrupted = &interrupted();
    const Result<ExitCode> done = eval_command(*flags);
    exit_code = done ? *done : report_error(done.error());
  });
}

}  // namespace passnet::cli
