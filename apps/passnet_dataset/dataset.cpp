// passnet dataset …: from models to samples.
#include "dataset.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "external_commands.h"

namespace passnet::cli {

Result<void> print_stage(const Result<Json>& report, bool json) {
  if (!report) return report.error();
  if (json) print_result(dump(*report) + "\n");
  return {};
}

void add_dataset(CLI::App& app, int& exit_code) {
  CLI::App* group = add_command(app, kDataset);
  group->require_subcommand(1);
  add_dataset_capture(*group, exit_code);
  add_dataset_build(*group, exit_code);
  add_dataset_decompose(*group, exit_code);
  add_dataset_generalize(*group, exit_code);
  add_dataset_dedup(*group, exit_code);
  add_dataset_samples(*group, exit_code);
  add_dataset_split(*group, exit_code);
  add_dataset_groups(*group, exit_code);
  add_dataset_official(*group, exit_code);
  add_dataset_export(*group, exit_code);
  add_dataset_push(*group, exit_code);
  add_dataset_show(*group, exit_code);
  add_dataset_index(*group, exit_code);
  add_dataset_find(*group, exit_code);
  add_dataset_stats(*group, exit_code);
}

}  // namespace passnet::cli
