// passnet dataset dedup: graphs of several trees into one, of equal ones the first.
#include "dataset/dedup.h"

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct DedupFlags {
  std::vector<std::string> trees;
  std::string by = "identity";
  JobFlags job;
  dataset::DedupOptions options;
};

Result<void> run_dedup(DedupFlags& flags) {
  flags.options.by = *dataset::parse_equal_by(flags.by);
  PASSNET_TRY(const dataset::DedupReport report,
              run_with_progress("graphs", flags.options.tree, [&](report::CountLine& progress) {
                return dataset::deduplicate(flags.trees, flags.job.out, flags.options,
                                            [&](const std::string& path) { progress.count(path); });
              }));
  for (const std::string& line : report.failed) say_error("left out: {}\n", Lines{line});
  if (flags.job.json) {
    say("{}\n", dump(Json{{"graphs", report.graphs},
                          {"added", report.added},
                          {"renamed", report.renamed},
                          {"duplicates", report.duplicates},
                          {"there", report.there},
                          {"failed", report.failed}}));
    return {};
  }
  say("{} graphs in {} trees: {} added, {} duplicates, {} there already, {} left out; in {}\n", report.graphs,
      flags.trees.size(), report.added, report.duplicates, report.there, report.failed.size(), flags.job.out);
  if (report.renamed > 0)
    say("{} of those added are at another path, since an unequal graph has theirs (dedup.jsonl)\n", report.renamed);
  return {};
}

}  // namespace

void add_dataset_dedup(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<DedupFlags>();
  CLI::App* command = group.add_subcommand("dedup", "merge directories of graphs without duplicates");
  command->add_option("DIR", flags->trees, "directories of graphs")->required();
  add_resumable_job_flags(*command, flags->job, flags->options.tree.jobs,
                          "directory for the graphs: new, empty, or of an earlier run", "graphs at a time");
  command
      ->add_option("--by", flags->by,
                   "identity: operators, connections, shapes and dtypes; hash: graph_hash.txt, as GraphNet")
      ->check(one_of({"identity", "hash"}))
      ->capture_default_str();
  command->footer(
      "Of equal graphs the first is kept, in the order of directories, then of paths; its "
      "subgraph_sources.json names the ranges of all. OUT/dedup.jsonl has a line per duplicate.\n\n"
      "Example:  passnet dataset dedup subgraphs/fusible upstream/fusible_subgraphs --out unique --jobs 2");
  command->callback([flags, &exit_code] { exit_code = finish(run_dedup(*flags)); });
}

}  // namespace passnet::cli
