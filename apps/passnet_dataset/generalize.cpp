// passnet dataset generalize: whole graphs at further shapes.
#include "dataset/generalize.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct GeneralizeFlags {
  std::vector<std::string> paths;
  JobFlags job;
  bool no_run = false;
  dataset::GeneralizeOptions options;
};

/// Sums over all models.
struct VariantTotals {
  size_t models = 0, failed = 0, generalized = 0, written = 0, skipped = 0;
  std::map<size_t, size_t> by_symbols;  // models with so many symbols
  std::map<std::string, size_t> compared{{"exact", 0}, {"refused", 0}, {"different", 0}};

  void add(const dataset::GeneralizeReport& report) {
    ++models;
    failed += !report.error.empty();
    generalized += !report.written.empty();
    written += report.written.size();
    skipped += report.skipped.size();
    ++by_symbols[report.symbols.size()];
    for (const auto& [capture, verdict] : report.compared) ++compared[verdict.substr(0, verdict.find(':'))];
  }
};

void print_totals(const VariantTotals& totals, const GeneralizeFlags& flags) {
  say("{} models, {} of them failed\n\n", totals.models, totals.failed);
  for (const auto& [symbols, count] : totals.by_symbols)
    say("{:>9}  with {} size{} that may change\n", count, symbols, symbols == 1 ? "" : "s");
  if (flags.options.check) {
    say("\ncaptures made from the first of their model:\n");
    for (const auto& [verdict, count] : totals.compared) say("{:>9}  {}\n", count, verdict);
  } else {
    say("\n{} graphs written of {} models, {} skipped\n", totals.written, totals.generalized, totals.skipped);
  }
  say("\nin {}; generalize.jsonl says why\n", flags.job.out);
}

Result<void> run_generalize(GeneralizeFlags& flags) {
  flags.options.run = !flags.no_run;
  VariantTotals totals;
  PASSNET_TRY_VOID(run_with_progress("models", flags.options, [&](report::CountLine& progress) {
    return dataset::generalize(flags.paths, flags.job.out, flags.options, [&](const dataset::GeneralizeReport& report) {
      totals.add(report);
      if (!report.error.empty()) {
        progress.clear();
        say_error("{}: {}\n", report.graph, report.error);
      }
      progress.count(report.graph);
    });
  }));
  if (flags.job.json) {
    Json json{{"models", totals.models},   {"failed", totals.failed},   {"generalized", totals.generalized},
              {"written", totals.written}, {"skipped", totals.skipped}, {"by_symbols", Json::object()}};
    for (const auto& [symbols, count] : totals.by_symbols) json["by_symbols"][std::to_string(symbols)] = count;
    if (flags.options.check) json["compared"] = totals.compared;
    say("{}\n", dump(json));
  } else {
    print_totals(totals, flags);
  }
  return {};
}

}  // namespace

void add_dataset_generalize(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<GeneralizeFlags>();
  CLI::App* command = group.add_subcommand("generalize", "write whole graphs at more shapes");
  command->add_option("PATH", flags->paths, "directories of whole graphs")->required();
  add_resumable_job_flags(*command, flags->job, flags->options.jobs, "directory for the new graphs",
                          "models at a time");
  command->add_option("--max-shapes", flags->options.variants, "new shapes per model")
      ->check(integer_in(1, 9))
      ->capture_default_str();
  command->add_option("--max-bytes", flags->options.max_bytes, "bytes of the largest computed value of a graph at most")
      ->check(integer_in(1, int64_t{1} << 50))
      ->capture_default_str();
  command->add_flag("--check", flags->options.check,
                    "write nothing; derive each further capture of a model from its first, and compare");
  command->add_flag("--no-run", flags->no_run, "do not run the new graphs to check them");
  add_timeout_option(*command, flags->options.timeout_s, "time limit of a step of a graph, in seconds");
  command
      ->add_option("--time-limit", flags->options.search_s,
                   "time limit to find which integers of a model are sizes, in seconds")
      ->check(number_in(0.1, 86400.0))
      ->capture_default_str();
  command->footer(
      "Captures of one model at several shapes are used together. Writes OUT/GRAPH with another shape in "
      "GRAPH, and OUT/generalize.jsonl, one line per model as it finishes. Models that are in it with the "
      "same "
      "options are left out, so that the same command goes on after an interruption.\n\n"
      "Example:  passnet dataset generalize full --out more --jobs 2 && passnet dataset decompose full more "
      "--out subgraphs");
  command->callback([flags, &exit_code] { exit_code = finish(run_generalize(*flags)); });
}

}  // namespace passnet::cli
