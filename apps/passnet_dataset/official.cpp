// passnet dataset official: the official benchmark from upstream's lists and whole models.

#include <CLI/CLI.hpp>
#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/processors.h"
#include "command.h"
#include "dataset.h"
#include "dataset/official/listing.h"
#include "dataset/official/rebuild.h"
#include "options.h"

namespace passnet::cli {

namespace official = dataset::official;

namespace {

struct OfficialFlags {
  std::vector<std::string> lists;
  std::string models;
  JobFlags job;
  official::RebuildOptions options;
};

/// Sums over all listed graphs.
struct OfficialTotals {
  size_t graphs = 0;
  std::map<std::string, size_t> outcomes;
  std::map<std::string, size_t> records;  // by where their figures come from

  void add(const official::GraphReport& report) {
    ++graphs;
    ++outcomes[std::string(official::name(report.outcome))];
    for (const auto& [origin, names] : report.records) records[origin] += names.size();
  }
  bool all_cut() const {
    return outcomes.size() == 1 && outcomes.begin()->first == official::name(official::Outcome::Cut);
  }
};

void print_totals(const OfficialTotals& totals, size_t tasks, const std::string& out) {
  say("{} graphs of {} samples\n\n", totals.graphs, tasks);
  for (const auto& [outcome, count] : totals.outcomes) say("{:>9}  {}\n", count, outcome);
  say("\nfigures of arguments:\n");
  for (const auto& [origin, count] : totals.records) say("{:>9}  {}\n", count, origin);
  say("\nin {}; manifest.jsonl says of each graph which figures are which\n", out);
}

Result<ExitCode> run_official(OfficialFlags& flags) {
  PASSNET_TRY(const std::vector<official::Task> tasks, official::load_tasks(flags.lists));
  OfficialTotals totals;
  PASSNET_TRY_VOID(run_with_progress("graphs", flags.options, [&](report::CountLine& progress) {
    return official::rebuild(
        tasks, flags.models, flags.job.out, flags.options, [&](const official::GraphReport& report) {
          totals.add(report);
          if (report.outcome != official::Outcome::Cut) {
            progress.clear();
            say_error("{}: {}: {}\n", report.graph, official::name(report.outcome), Lines{report.why});
          }
          progress.count(report.graph);
        });
  }));
  if (flags.job.json)
    say("{}\n", dump(Json{{"tasks", tasks.size()},
                          {"graphs", totals.graphs},
                          {"outcomes", totals.outcomes},
                          {"records", totals.records}}));
  else
    print_totals(totals, tasks.size(), flags.job.out);
  return totals.all_cut() ? kOk : kNotAllCorrect;
}

}  // namespace

void add_dataset_official(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<OfficialFlags>();
  CLI::App* command = group.add_subcommand("official", "rebuild PassBench from its lists and GraphNet's whole models");
  command->add_option("LISTS", flags->lists, "graph_list.txt of each sample, or directories that contain them")
      ->required();
  command->add_option("--graphs", flags->models, "checkout of GraphNet, with samples/SOURCE/MODEL or SOURCE/MODEL")
      ->required();
  add_job_flags(*command, flags->job, flags->options.jobs, "directory for graphs, tasks and manifest.jsonl",
                "models at a time")
      ->required();
  flags->options.measure = true;
  flags->options.jobs = std::clamp(static_cast<int>(available_processors().size()), 1, 128);
  command->get_option("--jobs")->default_str("one per processor");
  command->add_flag_callback(
      "--no-run", [flags] { flags->options.measure = false; },
      "do not run whole models; assume mean 0 and std 1 for the inputs of their subgraphs");
  add_timeout_option(*command, flags->options.timeout_s, "time limit of a step of a model, in seconds");
  command->footer(
      "Writes OUT/graphs/… (model.py, weight_meta.py, input_meta.py, graph_net.json, graph_hash.txt), OUT/tasks/ID "
      "with\n"
      "the lists, and OUT/manifest.jsonl: of each graph its outcome, and if its arguments' figures are recorded by\n"
      "the model, measured, or assumed. Texts, names, shapes and element types are PassBench's;\n"
      "figures of values in between cannot be, since PassBench drew its inputs without a seed (docs/dataset.md).\n"
      "Exit code 1: a listed graph could not be made.\n\n"
      "Example:  passnet dataset official hf_subgraphs_v2 --graphs GraphNet --out official");
  command->callback([flags, &exit_code] { exit_code = finish(run_official(*flags)); });
}

}  // namespace passnet::cli
