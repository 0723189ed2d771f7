// passnet dataset build: captured graphs into a dataset, all stages in one command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct BuildFlags {
  std::vector<std::string> paths;
  JobFlags job;
  int jobs = 1;
  double timeout_s = 0;
  dataset::SampleOptions samples;
};

Result<void> run(BuildFlags& flags) {
  const fs::path out = flags.job.out, subgraphs = out / "subgraphs";
  const bool text = !flags.job.json;
  dataset::DecomposeOptions decompose;
  decompose.jobs = flags.samples.jobs = flags.jobs;
  decompose.timeout_s = flags.samples.timeout_s = flags.timeout_s;
  Json report;
  PASSNET_TRY(report["decompose"], run_decompose(flags.paths, subgraphs.string(), decompose, text));
  if (text) say("\n");
  const std::string fusible = (subgraphs / name(graphdir::Kind::Fusible)).string();
  PASSNET_TRY(report["samples"], run_samples(fusible, flags.job.out, flags.samples, text));
  if (text) say("\n");
  dataset::IndexOptions index;
  index.tree.jobs = flags.jobs;
  PASSNET_TRY(report["index"], run_index(flags.job.out, "", index, text));
  PASSNET_TRY_VOID(print_stage(report, flags.job.json));
  print_next(fmt::format("passnet dataset stats {}", flags.job.out));
  return {};
}

}  // namespace

void add_dataset_build(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<BuildFlags>();
  CLI::App* command =
      group.add_subcommand("build", "make a dataset of captured graphs: decompose, samples and index in one");
  command->add_option("PATH", flags->paths, "directories of whole graphs")->required();
  add_resumable_job_flags(*command, flags->job, flags->jobs, "directory for the dataset", "graphs at a time");
  command->add_option("--max-shapes", flags->samples.max_shapes, "shapes per sample")
      ->check(integer_in(1, 1000))
      ->capture_default_str();
  command->add_option("--limit", flags->samples.limit, "number of samples, rare operator sequences first; 0: all")
      ->capture_default_str();
  command->add_option("--eval-share", flags->samples.eval_share, "share of model families for evaluation")
      ->check(number_in(0.0, 1.0))
      ->capture_default_str();
  add_seed_option(*command, flags->samples.seed, "seed of the split");
  add_timeout_option(*command, flags->timeout_s, "time limit of a step of a graph, in seconds");
  command->footer(
      "Subgraphs of all kinds go to OUT/subgraphs, samples of the fusible ones to OUT/samples, lists to "
      "OUT/lists. "
      "The same command goes on after an interruption, and adds models that are new.\n\n"
      "Example:  passnet dataset build full --out dataset");
  command->callback([flags, &exit_code] { exit_code = finish(run(*flags)); });
}

}  // namespace passnet::cli
