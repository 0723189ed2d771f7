// passnet dataset export: samples in the formats of others.
#include "dataset/harbor/export.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "base/version.h"
#include "command.h"
#include "dataset.h"
#include "options.h"
#include "run/worker/worker.h"

namespace passnet::cli {

namespace {

struct ExportFlags {
  std::vector<std::string> paths;
  std::string harbor, passes, root, device = "cpu";
  bool json = false;
  dataset::HarborOptions options;
};

Result<void> run_export(ExportFlags& flags) {
  if (!flags.passes.empty() && !directory_exists(flags.passes))
    return bad_input(fmt::format("--passes: '{}' is no directory", flags.passes));
  PASSNET_TRY(const std::optional<int> gpu, run::parse_device(flags.device));
  flags.options.passes = flags.passes;
  flags.options.on_gpu = gpu.has_value();
  if (flags.options.image.empty())
    flags.options.image = fmt::format("passnet{}:{}", flags.options.on_gpu ? "-nvidia" : "", kVersion);
  PASSNET_TRY(const std::vector<std::filesystem::path> paths, graphdir::expand_paths(flags.paths, flags.root));
  PASSNET_TRY(const std::vector<graphdir::Sample> samples, graphdir::load_samples(paths));
  PASSNET_TRY(const dataset::HarborReport report,
              run_with_progress("tasks", flags.options.tree, [&](report::CountLine& progress) {
                return dataset::export_harbor(samples, flags.harbor, flags.options,
                                              [&](const std::string& name) { progress.count(name); });
              }));
  if (flags.json)
    say("{}\n", dump(Json{{"tasks", report.tasks}, {"solved", report.solved}, {"image", flags.options.image}}));
  else
    say("{} tasks, {} with a solution, for the image {}\n\nin {}\n", report.tasks, report.solved, flags.options.image,
        flags.harbor);
  return {};
}

}  // namespace

void add_dataset_export(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<ExportFlags>();
  CLI::App* command = group.add_subcommand("export", "write samples as tasks for agents, in Harbor's format");
  command->add_option("PATH", flags->paths, "samples, or text files that list samples")->required();
  command->add_option("--harbor", flags->harbor, "directory for the tasks and their index, empty or new")->required();
  command->add_option(
      "--passes", flags->passes,
      "solutions, PASSES/SAMPLE/pass_dir, as 'passnet author --out' writes them; default: the samples' own");
  command->add_option("--image", flags->options.image,
                      "image that containers begin with; default: passnet:VERSION, on a GPU passnet-nvidia:VERSION");
  add_device_option(*command, flags->device);
  add_root_option(*command, flags->root);
  add_jobs_option(*command, flags->options.tree.jobs, "tasks at a time");
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet dataset export samples/* --harbor tasks   (docs/harbor.md)");
  command->callback([flags, &exit_code] { exit_code = finish(run_export(*flags)); });
}

}  // namespace passnet::cli
