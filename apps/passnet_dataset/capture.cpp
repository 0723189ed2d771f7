// passnet dataset capture: models of PyTorch's libraries into whole graphs.
#include "dataset/capture.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>
#include <utility>

#include "base/json/json.h"
#include "base/text/strings.h"
#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct CaptureFlags {
  JobFlags job;
  bool list = false;
  dataset::CaptureOptions options;
};

// Causes of failures in the order they are told in; docs/dataset.md has them too.
constexpr std::pair<const char*, const char*> kCauses[] = {
    {"not-found", "no model of this name"},
    {"needs-download", "the model asks for files from the network"},
    {"constructor", "building the model failed"},
    {"inputs", "no arguments were found that the model runs with"},
    {"trace", "the model runs, but tracing it failed"},
    {"graph-break-only", "graph breaks left no piece with an operator"},
    {"data-dependent", "control flow depends on data, and no piece with an operator is left"},
    {"unsupported", "the graph holds what graph directories cannot say, or the kind of model is left out"},
    {"timeout", "the time limit passed"},
    {"memory", "the memory limit was reached"},
    {"crash", "the process died"},
    {"too-large", "the graph, or the model that would have to run, is too large"},
    {"no-graph", "the model computes nothing that torch.compile sees"},
};

/// Sums over all models.
struct ModelTotals {
  size_t models = 0, captured = 0, graphs = 0, earlier = 0;
  std::map<std::string, size_t> failed;  // by cause

  void add(const dataset::CaptureLine& line) {
    ++models;
    captured += line.captured;
    graphs += line.graphs.size();
    earlier += line.earlier;
    if (!line.captured) ++failed[line.cause];
  }
};

void print_totals(const ModelTotals& totals, const std::string& out) {
  say("captured: {} of {} models, {} graphs", totals.captured, totals.models, totals.graphs);
  if (totals.earlier > 0) say("; {} models stood in the journal already", totals.earlier);
  say("\n");
  for (const auto& [cause, meaning] : kCauses) {
    if (const auto found = totals.failed.find(cause); found != totals.failed.end())
      say("{}: {} ({})\n", cause, found->second, meaning);
  }
  say("\nin {}{}\n", out, totals.failed.empty() ? "" : "; journal.jsonl says why models failed");
}

Result<ExitCode> run_list(const CaptureFlags& flags) {
  PASSNET_TRY(const std::vector<std::string> names, dataset::list_models(flags.options));
  print_result((flags.job.json ? dump(Json{{"names", names}}) : join(names, "\n")) + "\n");
  return kOk;
}

Result<ExitCode> run_capture(CaptureFlags& flags) {
  ModelTotals totals;
  const Result<void> done = run_with_progress("models", flags.options, [&](report::CountLine& progress) {
    return dataset::capture(flags.job.out, flags.options, [&](const dataset::CaptureLine& line) {
      totals.add(line);
      if (!line.captured && !line.earlier) {
        progress.clear();
        say_error("{}: {}: {}\n", line.model, line.cause, line.message);
      }
      progress.count(line.model);
    });
  });
  if (interrupted()) say_error("interrupted: what is finished is kept in '{}'; go on with --resume\n", flags.job.out);
  if (!done) return done.error();
  if (flags.job.json) {
    print_result(dump(Json{{"models", totals.models},
                           {"captured", totals.captured},
                           {"graphs", totals.graphs},
                           {"failed", totals.failed},
                           {"out", flags.job.out}}) +
                 "\n");
  } else {
    print_totals(totals, flags.job.out);
  }
  if (totals.captured > 0) print_next(fmt::format("passnet dataset build {} --out dataset", flags.job.out));
  return totals.captured == totals.models ? kOk : kNotAllCorrect;
}

}  // namespace

void add_dataset_capture(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<CaptureFlags>();
  dataset::CaptureOptions& options = flags->options;
  CLI::App* command = group.add_subcommand(
      "capture",
      "capture models of timm, torchvision, transformers or a file as whole graphs (needs PyTorch in Python)");
  command->add_option("--from", options.from, "timm, torchvision, transformers, or FILE.py:function (see below)")
      ->required();
  command->add_option("--filter", options.match, "names of models, with * and ?; default: all")
      ->allow_extra_args(false);
  add_job_flags(*command, flags->job, options.jobs, "directory for graphs and journal.jsonl", "models at a time");
  CLI::Option* resume = command->add_flag("--resume", options.resume, "skip models that are in the journal");
  command->add_flag("--retry-failed", options.retry_failed, "with --resume: capture failed models again")
      ->needs(resume);
  add_timeout_option(*command, options.timeout_s, "time limit of a model, in seconds");
  command->add_option("--memory-gb", options.memory_gb, "memory limit of a model, in GB")
      ->check(number_in(0.1, 1e6))
      ->capture_default_str();
  command->add_option("--max-shapes", options.shapes, "shapes per model")
      ->check(integer_in(1, 1000))
      ->capture_default_str();
  command->add_option("--limit", options.limit, "capture only the first N models that match; default: all")
      ->check(integer_in(1, 1000000));
  add_shard_option(*command, options.shard, "models");
  command->add_flag("--dry-run", flags->list, "print the names of matching models and end");
  command->footer(
      "FILE.py:function is a function of yours without arguments. It returns (model, kwargs): a torch.nn.Module and\n"
      "the dict of keyword arguments for its forward. For several shapes it returns a list of (tag, model, kwargs):\n\n"
      "  def tiny():\n"
      "      return torch.nn.Linear(8, 4), {\"input\": torch.randn(2, 8)}\n\n"
      "Models get random weights, and a process each; nothing is downloaded. Exit code 1: some models failed.\n\n"
      "Example:  passnet dataset capture --from timm --filter 'resnet*' --out full --jobs 2 --resume\n"
      "          passnet dataset capture --from tiny.py:tiny --out full");
  command->callback([flags, &exit_code] {
    if (flags->job.out.empty() && !flags->list) throw CLI::RequiredError("--out, or --dry-run,");
    exit_code = finish(flags->list ? run_list(*flags) : run_capture(*flags));
  });
}

}  // namespace passnet::cli
