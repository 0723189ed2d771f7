// passnet dataset split: lists for training and evaluation of any tree of samples.
#include "dataset/catalog/split.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct SplitFlags {
  std::string dataset, keep;
  JobFlags job;
  dataset::SplitOptions options;
};

void print_report(const dataset::SplitReport& report, const SplitFlags& flags, const fs::path& lists) {
  say("{} samples with {} graphs: {} for evaluation, {} for training\n", report.samples, report.graphs,
      report.evaluation, report.samples - report.evaluation);
  say("{} families: {} for evaluation; none is on both sides\n", report.families, report.families_for_evaluation);
  if (!flags.keep.empty())
    say("{} families are for evaluation only because '{}' names a sample of them\n", report.families_kept, flags.keep);
  say("\nlists in {}\n", lists.string());
}

Result<void> run_split(SplitFlags& flags) {
  if (!directory_exists(flags.dataset)) return bad_input(fmt::format("'{}' is no directory", flags.dataset));
  const fs::path lists = flags.job.out.empty() ? fs::path(flags.dataset) / "lists" : fs::path(flags.job.out);
  flags.options.keep = flags.keep;
  PASSNET_TRY(const dataset::SplitReport report,
              run_with_progress("samples", flags.options.tree, [&](report::CountLine& progress) {
                return dataset::write_split(flags.dataset, lists, flags.options,
                                            [&](const std::string& path) { progress.count(path); });
              }));
  for (const std::string& line : report.failed) say_error("in no list: {}\n", Lines{line});
  if (!report.not_found.empty())
    say_error("{}: {} lines name nothing in '{}', the first is '{}'\n", flags.keep, report.not_found.size(),
              flags.dataset, report.not_found.front());
  if (flags.job.json) {
    say("{}\n", dump(Json{{"samples", report.samples},
                          {"evaluation", report.evaluation},
                          {"graphs", report.graphs},
                          {"families", report.families},
                          {"families_for_evaluation", report.families_for_evaluation},
                          {"families_kept", report.families_kept},
                          {"not_found", report.not_found},
                          {"failed", report.failed},
                          {"lists", lists.string()}}));
  } else {
    print_report(report, flags, lists);
  }
  return {};
}

}  // namespace

void add_dataset_split(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<SplitFlags>();
  CLI::App* command = group.add_subcommand(
      "split", "split samples into lists for training and evaluation, near-duplicates on one side");
  command->add_option("DATASET", flags->dataset, "directory of samples or graphs")->required();
  command->add_option("--eval-share", flags->options.eval_share, "share of model families for evaluation")
      ->check(number_in(0.0, 1.0))
      ->capture_default_str();
  add_seed_option(*command, flags->options.seed, "seed of the split");
  command->add_option("--keep", flags->keep, "list of samples to keep for evaluation, with their families")
      ->check(CLI::ExistingFile);
  add_job_flags(*command, flags->job, flags->options.tree.jobs, "directory for the lists; default: DATASET/lists",
                "samples at a time");
  command->footer(
      "Writes all, train and eval, as .txt and .csv. Families go by the rule of 'passnet dataset samples', "
      "so that "
      "a larger dataset moves nothing.\n\n"
      "Example:  passnet dataset split fusible_subgraphs --keep eval_list.txt --out lists --jobs 2");
  command->callback([flags, &exit_code] { exit_code = finish(run_split(*flags)); });
}

}  // namespace passnet::cli
