// passnet dataset push: a dataset as the Hugging Face Hub shows it, and the commands that send it there.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/text/strings.h"
#include "command.h"
#include "dataset.h"
#include "dataset/hub/hub.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct PushFlags {
  std::string dataset, out;
  bool json = false;
  dataset::HubOptions options;
};

Result<void> run_push(PushFlags& flags) {
  PASSNET_TRY(const dataset::HubReport report,
              run_with_progress("samples", flags.options.tree, [&](report::CountLine& progress) {
                return dataset::write_hub(flags.dataset, flags.out, flags.options,
                                          [&](const std::string& path) { progress.count(path); });
              }));
  const std::string create = fmt::format("hf repo create {} --repo-type dataset", flags.options.name);
  const std::string upload = fmt::format("hf upload {} {} . --repo-type dataset", flags.options.name, flags.out);
  if (flags.json) {
    print_result(dump(Json{{"out", flags.out},
                           {"splits", report.splits},
                           {"licences", report.licences},
                           {"commands", {create, upload}}}) +
                 "\n");
    return {};
  }
  for (const auto& [split, graphs] : report.splits) say("{}: {}\n", split, counted(graphs, "graph"));
  for (const auto& [licence, graphs] : report.licences) say("licence {}: {}\n", licence, counted(graphs, "graph"));
  say("\nin {}; nothing was sent. To send it:\n  {}\n  {}\n", flags.out, create, upload);
  return {};
}

}  // namespace

void add_dataset_push(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<PushFlags>();
  CLI::App* command =
      group.add_subcommand("push", "write a dataset for the Hugging Face Hub, and print the commands that send it");
  command->add_option("DATASET", flags->dataset, "a dataset with lists, as 'passnet dataset build' makes it")
      ->required();
  command->add_option("NAME", flags->options.name, "the repository, USER/NAME")->required();
  add_out_option(*command, flags->out, "directory for rows, card and metadata, empty or new")->required();
  add_jobs_option(*command, flags->options.tree.jobs, "samples at a time");
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet dataset push dataset me/graphs --out hub");
  command->callback([flags, &exit_code] { exit_code = finish(run_push(*flags)); });
}

}  // namespace passnet::cli
