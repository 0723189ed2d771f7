// passnet dataset build: captured graphs into a dataset, all stages in one command.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>

#include "command.h"
#include "dataset.h"

namespace passnet::cli {

namespace {

namespace fs = std::filesystem;

struct BuildFlags {
  std::vector<std::string> paths;
  std::string out;
  int jobs = 2;
  dataset::SampleOptions samples;
};

Result<void> run(BuildFlags& flags) {
  const fs::path out = flags.out, subgraphs = out / "subgraphs";
  dataset::DecomposeOptions decompose;
  decompose.jobs = flags.samples.jobs = flags.jobs;
  PASSNET_TRY_VOID(run_decompose(flags.paths, subgraphs.string(), decompose, false));
  fmt::print("\n");
  PASSNET_TRY_VOID(
      run_samples((subgraphs / name(dataset::Kind::Fusible)).string(), flags.out, flags.samples, false));
  fmt::print("\n");
  dataset::IndexOptions index;
  index.tree.jobs = flags.jobs;
  return run_index(flags.out, "", index, false);
}

}  // namespace

void add_dataset_build(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<BuildFlags>();
  CLI::App* command =
      group.add_subcommand("build", "captured graphs into a dataset: decompose, samples and index in one");
  command->add_option("PATH", flags->paths, "directories with whole graphs")->required();
  command->add_option("--out", flags->out, "where the dataset goes")->required();
  command->add_option("--max-shapes", flags->samples.max_shapes, "shapes per sample")
      ->check(CLI::Range(1, 1000))
      ->capture_default_str();
  command
      ->add_option("--tasks", flags->samples.tasks,
                   "so many samples, new and rare operator sequences first; 0: all")
      ->capture_default_str();
  command->add_option("--eval-share", flags->samples.eval_share, "share of families for evaluation")
      ->check(CLI::Range(0.0, 1.0))
      ->capture_default_str();
  command->add_option("--seed", flags->samples.seed, "of the split")->capture_default_str();
  command->add_option("--jobs", flags->jobs, "graphs at a time")
      ->check(CLI::Range(1, 128))
      ->capture_default_str();
  command->footer(
      "Subgraphs of all kinds go to OUT/subgraphs, samples of the fusible ones to OUT/samples, lists to "
      "OUT/lists. "
      "The same command goes on after an interruption, and adds models that are new.\n\n"
      "Example:  passnet dataset build full --out dataset");
  command->callback([flags, &exit_code] { exit_code = finish(run(*flags)); });
}

}  // namespace passnet::cli
