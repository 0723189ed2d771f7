// passnet dataset groups: upstream's sampling groups of a tree of subgraphs.
#include "dataset/catalog/groups.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "base/json/json.h"
#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct GroupFlags {
  std::string root;
  JobFlags job;
  graphdir::TreeOptions tree;
};

Result<void> run_groups(GroupFlags& flags) {
  if (!directory_exists(flags.root)) return bad_input(fmt::format("'{}' is no directory", flags.root));
  PASSNET_TRY(const dataset::GroupReport report,
              run_with_progress("graphs", flags.tree, [&](report::CountLine& progress) {
                return dataset::write_groups(flags.root, flags.job.out, flags.tree,
                                             [&](const std::string& path) { progress.count(path); });
              }));
  for (const std::string& line : report.failed) say_error("not read: {}\n", Lines{line});
  if (flags.job.json) {
    Json groups = Json::object();
    for (int rule = 1; rule <= 4; ++rule) groups[std::to_string(rule)] = report.groups[rule];
    say("{}\n", dump(Json{{"graphs", report.graphs},
                          {"whole_graphs", report.whole_graphs},
                          {"sequences", report.sequences},
                          {"buckets", report.buckets},
                          {"groups_by_rule", groups},
                          {"members", report.members},
                          {"failed", report.failed}}));
    return {};
  }
  say("{} subgraphs of {} operator sequences in {} buckets; {} of them in groups\n", report.graphs, report.sequences,
      report.buckets, report.members);
  if (report.whole_graphs > 0) say("{} whole graphs, which are in no group\n", report.whole_graphs);
  for (int rule = 1; rule <= 4; ++rule) say("{:>9}  groups by rule {}\n", report.groups[rule], rule);
  say("\nin {}\n", flags.job.out);
  return {};
}

}  // namespace

void add_dataset_groups(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<GroupFlags>();
  CLI::App* command =
      group.add_subcommand("groups", "list groups of subgraphs with the same operators at several shapes and dtypes");
  command->add_option("DIR", flags->root, "directory of subgraphs")->required();
  add_job_flags(*command, flags->job, flags->tree.jobs,
                "file with a line per group: CSV if its name ends in .csv, else JSON", "graphs at a time")
      ->required();
  command->footer("Example:  passnet dataset groups subgraphs/fusible --out groups.jsonl --jobs 2");
  command->callback([flags, &exit_code] { exit_code = finish(run_groups(*flags)); });
}

}  // namespace passnet::cli
