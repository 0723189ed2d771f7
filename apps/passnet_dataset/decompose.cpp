// passnet dataset decompose: whole graphs into unique subgraphs.
#include "dataset/decompose.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/text/strings.h"
#include "base/usage.h"
#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct DecomposeFlags {
  std::vector<std::string> paths;
  std::string kinds = "sole_op,fusible,typical";
  JobFlags job;
  bool no_run = false;
  dataset::DecomposeOptions options;
};

/// Sums over all whole graphs.
struct CutTotals {
  size_t graphs = 0, failed = 0, not_measured = 0;
  std::map<std::string, size_t> pieces, written, left_out;

  void add(const dataset::WholeReport& report) {
    ++graphs;
    failed += !report.error.empty();
    not_measured += !report.not_measured.empty();
    for (const auto& [kind, count] : report.pieces) pieces[kind] += count;
    for (const auto& [kind, count] : report.written) written[kind] += count;
    for (const auto& [reason, count] : report.left_out) left_out[reason] += count;
  }
};

void print_totals(const CutTotals& totals, const std::string& out) {
  say("{} whole graphs, {} of them failed\n\n{:<10} {:>9} {:>9}\n", totals.graphs, totals.failed, "kind", "ranges",
      "unique");
  for (const auto& [kind, count] : totals.pieces) {
    const auto found = totals.written.find(kind);
    say("{:<10} {:>9} {:>9}\n", kind, count, found == totals.written.end() ? 0 : found->second);
  }
  if (!totals.left_out.empty()) say("\nleft out:\n");
  for (const auto& [reason, count] : totals.left_out) say("{:>9}  {}\n", count, reason);
  if (totals.not_measured > 0)
    say("\n{} graphs could not be run: values of their pieces are not measured (decompose.jsonl says why)\n",
        totals.not_measured);
  say("\nin {}\n", out);
}

Result<std::vector<graphdir::Kind>> parse_kinds(const std::string& kinds) {
  std::vector<graphdir::Kind> parsed;
  for (const std::string_view text : split(kinds, ',')) {
    const auto kind = graphdir::parse_kind(text);
    if (!kind)
      return usage_error(
          fmt::format("--kind: found {}, expected sole_op, fusible or typical, with commas between", quoted(text)));
    parsed.push_back(*kind);
  }
  return parsed;
}

Result<void> run(DecomposeFlags& flags) {
  PASSNET_TRY(flags.options.kinds, parse_kinds(flags.kinds));
  flags.options.measure = !flags.no_run;
  PASSNET_TRY_VOID(
      print_stage(run_decompose(flags.paths, flags.job.out, flags.options, !flags.job.json), flags.job.json));
  print_next(fmt::format("passnet dataset samples {}/fusible --out dataset", flags.job.out));
  return {};
}

}  // namespace

Result<Json> run_decompose(const std::vector<std::string>& paths, const std::string& out,
                           dataset::DecomposeOptions options, bool text) {
  CutTotals totals;
  PASSNET_TRY_VOID(run_with_progress("graphs", options, [&](report::CountLine& progress) {
    return dataset::decompose(paths, out, options, [&](const dataset::WholeReport& report) {
      totals.add(report);
      if (!report.error.empty()) {
        progress.clear();
        say_error("{}: {}\n", report.graph, report.error);
      }
      progress.count(report.graph);
    });
  }));
  if (text) print_totals(totals, out);
  return Json{{"graphs", totals.graphs}, {"failed", totals.failed},   {"not_measured", totals.not_measured},
              {"pieces", totals.pieces}, {"written", totals.written}, {"left_out", totals.left_out}};
}

void add_dataset_decompose(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<DecomposeFlags>();
  CLI::App* command = group.add_subcommand(
      "decompose", "cut whole graphs into unique subgraphs: single operators, fusible and typical ranges");
  command->add_option("PATH", flags->paths, "directories of whole graphs")->required();
  add_resumable_job_flags(*command, flags->job, flags->options.jobs, "directory for the subgraphs",
                          "whole graphs at a time");
  add_shard_option(*command, flags->options.shard, "whole graphs");
  command->add_option("--kind", flags->kinds, "kinds of subgraphs, separated by commas")->capture_default_str();
  command->add_option("--min-ops", flags->options.typical.min_ops, "operators of a typical range at least")
      ->check(integer_in(1, 10000))
      ->capture_default_str();
  command->add_option("--max-ops", flags->options.typical.max_ops, "operators of a typical range at most, not included")
      ->check(integer_in(2, 10000))
      ->capture_default_str();
  command->add_flag("--no-run", flags->no_run,
                    "do not run whole graphs; record types of intermediate values without figures");
  add_timeout_option(*command, flags->options.timeout_s, "time limit of a step of a whole graph, in seconds");
  command->footer(
      "Writes OUT/KIND/GRAPH/_decomposed/NAME and OUT/decompose.jsonl, a line per whole graph. Graphs that "
      "are "
      "in it already are left out, so the same command goes on after an interruption.\n\n"
      "Example:  passnet dataset decompose full --out subgraphs --jobs 2");
  command->callback([flags, &exit_code] { exit_code = finish(run(*flags)); });
}

}  // namespace passnet::cli
