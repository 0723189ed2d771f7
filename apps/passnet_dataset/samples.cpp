// passnet dataset samples: subgraphs into samples, lists and a split.
#include "dataset/samples.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "base/usage.h"
#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

struct SampleFlags {
  std::string subgraphs, dtypes = "float32,float16,bfloat16";
  JobFlags job;
  dataset::SampleOptions options;
};

struct SampleTotals {
  size_t groups = 0, samples = 0, graphs = 0, evaluation = 0;
  std::map<std::string, size_t> unfit;  // by reason

  void add(const dataset::SampleReport& report) {
    ++groups;
    samples += report.graphs > 0;
    evaluation += report.graphs > 0 && report.split == "eval";
    graphs += report.graphs;
    for (const std::string& why : report.unfit) ++unfit[why.substr(why.find(": ") + 2)];
  }
};

Result<void> run(SampleFlags& flags) {
  flags.options.dtypes.clear();
  for (const std::string_view text : split(flags.dtypes, ',')) {
    const auto dtype = ir::parse_dtype(text);
    if (!dtype || !ir::is_floating(*dtype))
      return usage_error(fmt::format(
          "--dtype: found {}, expected floating types with commas between, as float32,float16", quoted(text)));
    flags.options.dtypes.push_back(*dtype);
  }
  PASSNET_TRY_VOID(
      print_stage(run_samples(flags.subgraphs, flags.job.out, flags.options, !flags.job.json), flags.job.json));
  print_next(fmt::format("passnet dataset index {}", flags.job.out));
  return {};
}

}  // namespace

Result<Json> run_samples(const std::string& subgraphs, const std::string& out, dataset::SampleOptions options,
                         bool text) {
  SampleTotals totals;
  PASSNET_TRY_VOID(run_with_progress("samples", options, [&](report::CountLine& progress) {
    return dataset::make_samples(subgraphs, out, options, [&](const dataset::SampleReport& report) {
      totals.add(report);
      progress.count(report.path);
    });
  }));
  Json report{{"groups", totals.groups},
              {"samples", totals.samples},
              {"evaluation", totals.evaluation},
              {"graphs", totals.graphs},
              {"unfit", totals.unfit}};
  if (!text) return report;
  say("{} groups of graphs, {} samples ({} for evaluation) with {} graphs\n", totals.groups, totals.samples,
      totals.evaluation, totals.graphs);
  if (!totals.unfit.empty()) say("\nnot fit for a sample:\n");
  for (const auto& [why, count] : totals.unfit) say("{:>7}  {}\n", count, why);
  say("\nin {}; lists in {}/lists\n", out, out);
  return report;
}

void add_dataset_samples(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<SampleFlags>();
  dataset::SampleOptions& options = flags->options;
  CLI::App* command = group.add_subcommand(
      "samples", "group subgraphs into samples of several shapes and dtypes, with lists for training and evaluation");
  command->add_option("SUBGRAPHS", flags->subgraphs, "output of 'passnet dataset decompose', or one kind of it")
      ->required();
  add_resumable_job_flags(*command, flags->job, options.jobs, "directory for the dataset", "samples at a time");
  add_shard_option(*command, options.shard, "samples");
  command->add_option("--dtype", flags->dtypes, "dtypes, separated by commas")->capture_default_str();
  command->add_option("--max-shapes", options.max_shapes, "shapes per sample")
      ->check(integer_in(1, 1000))
      ->capture_default_str();
  command->add_option("--min-shapes", options.min_shapes, "leave out samples with fewer shapes")
      ->check(integer_in(1, 1000))
      ->capture_default_str();
  command->add_option("--min-ops", options.min_kernels, "operators of a sample at least, views apart")
      ->check(integer_in(0, 1000))
      ->capture_default_str();
  command->add_option("--max-bytes", options.max_bytes, "bytes of a graph's inputs at most")
      ->check(integer_in(1, int64_t{1} << 50))
      ->capture_default_str();
  command->add_option("--limit", options.limit, "number of samples, rare operator sequences first; 0: all")
      ->capture_default_str();
  command->add_option("--eval-share", options.eval_share, "share of model families for evaluation")
      ->check(number_in(0.0, 1.0))
      ->capture_default_str();
  add_seed_option(*command, options.seed, "seed of the split");
  add_timeout_option(*command, options.timeout_s, "time limit of a step of a graph, in seconds");
  command->footer(
      "Each graph is run on two seeds: it must be deterministic, finite and depend on its inputs.\n\n"
      "Example:  passnet dataset samples subgraphs/fusible --out dataset --jobs 2");
  command->callback([flags, &exit_code] { exit_code = finish(run(*flags)); });
}

}  // namespace passnet::cli
