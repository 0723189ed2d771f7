// passnet dataset index|find|stats: the SQLite index of a dataset.
#include "dataset/catalog/index.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <filesystem>
#include <nlohmann/json.hpp>

#include "base/file/paths.h"
#include "command.h"
#include "dataset.h"
#include "options.h"

namespace passnet::cli {

namespace {

// A dataset's directory stands for the index in it.
fs::path index_of(const std::string& given) {
  return directory_exists(given) ? fs::path(given) / dataset::kIndexName : fs::path(given);
}

Result<fs::path> require_index(const std::string& given) {
  fs::path index = index_of(given);
  if (file_exists(index)) return index;
  return bad_input(fmt::format("there is no index at '{}'", index.string()))
      .with_hint(fmt::format("make it: passnet dataset index {}", given));
}

struct IndexFlags {
  std::string root;
  std::vector<std::string> lists;
  JobFlags job;
  dataset::IndexOptions options;
};

Json to_json(const std::vector<dataset::ListReport>& lists) {
  Json json = Json::array();
  for (const dataset::ListReport& list : lists)
    json.push_back(
        {{"name", list.name}, {"split", list.split}, {"found", list.found}, {"missing", list.missing.size()}});
  return json;
}

void print_lists(const dataset::IndexReport& report) {
  for (const dataset::ListReport& list : report.lists) {
    if (!list.missing.empty())
      say_error("list {}: {} of {} lines name nothing there, the first is '{}'\n", list.name, list.missing.size(),
                list.found + list.missing.size(), list.missing.front());
  }
  if (report.in_both > 0)
    say_error("{} graphs are in lists for training and for evaluation; indexed as eval\n", report.in_both);
}

struct FindFlags {
  std::string index;
  bool json = false;
  dataset::GraphQuery query;
};

Result<void> run_find(const FindFlags& flags) {
  PASSNET_TRY(const fs::path index, require_index(flags.index));
  PASSNET_TRY(const std::vector<dataset::IndexedGraph> found, dataset::query_graphs(index, flags.query));
  for (const dataset::IndexedGraph& graph : found) {
    if (flags.json) {
      say("{}\n", dump(Json{{"path", graph.path},
                            {"kind", graph.kind},
                            {"dtype", graph.dtype},
                            {"source", graph.source},
                            {"model", graph.model},
                            {"split", graph.split},
                            {"ops", graph.ops},
                            {"bytes", graph.bytes}}));
    } else {
      say("{}\n", graph.path);
    }
  }
  return {};
}

struct StatsFlags {
  std::string index;
  size_t operators = 20;
  bool json = false;
};

std::string name_of(const Json& value) { return value.is_null() ? "(not known)" : plain_text(value); }

void print_stats(const Json& stats, size_t operators) {
  say("{} graphs of {} structures, {} samples\n", stats["graphs"].get<int64_t>(), stats["structures"].get<int64_t>(),
      stats["samples"].get<int64_t>());
  for (const auto& [column, rows] : stats["by"].items()) {
    say("\nby {}\n", column);
    for (const Json& row : rows) say("{:>9}  {}\n", row[1].get<int64_t>(), name_of(row[0]));
  }
  say("\n    calls     graphs  operator\n");
  for (size_t i = 0; i < std::min(operators, stats["operators"].size()); ++i) {
    const Json& row = stats["operators"][i];
    say("{:>9}  {:>9}  {}\n", row[1].get<int64_t>(), row[2].get<int64_t>(), name_of(row[0]));
  }
}

Result<void> run_stats(const StatsFlags& flags) {
  PASSNET_TRY(const fs::path index, require_index(flags.index));
  PASSNET_TRY(const Json stats, dataset::index_stats(index));
  if (flags.json)
    say("{}\n", dump(stats));
  else
    print_stats(stats, flags.operators);
  return {};
}

}  // namespace

Result<Json> run_index(const std::string& root, const std::string& out, dataset::IndexOptions options, bool text) {
  if (!directory_exists(root)) return bad_input(fmt::format("'{}' is no directory", root));
  const fs::path file = out.empty() ? fs::path(root) / dataset::kIndexName : fs::path(out);
  PASSNET_TRY(
      const dataset::IndexReport report, run_with_progress("graphs", options.tree, [&](report::CountLine& progress) {
        return dataset::write_index(root, file, options, [&](const std::string& path) { progress.count(path); });
      }));
  for (const std::string& line : report.failed) say_error("not read: {}\n", Lines{line});
  print_lists(report);
  if (text)
    say("{} graphs, {} samples, {} not read; index in {}\n", report.graphs, report.samples, report.failed.size(),
        file.string());
  return Json{{"graphs", report.graphs},   {"samples", report.samples}, {"lists", to_json(report.lists)},
              {"in_both", report.in_both}, {"failed", report.failed},   {"index", file.string()}};
}

void add_dataset_index(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<IndexFlags>();
  CLI::App* command = group.add_subcommand("index", "index the graphs of a directory for find and stats");
  command->add_option("DATASET", flags->root, "directory of graphs")->required();
  add_job_flags(*command, flags->job, flags->options.tree.jobs, "file of the index; default: DATASET/index.sqlite",
                "graphs at a time");
  command->add_option("--list", flags->lists,
                      "list of samples or graphs, or directory of lists; may be repeated; default: DATASET/lists");
  command->footer("Example:  passnet dataset index dataset --jobs 2");
  command->callback([flags, &exit_code] {
    flags->options.lists.assign(flags->lists.begin(), flags->lists.end());
    exit_code =
        finish(print_stage(run_index(flags->root, flags->job.out, flags->options, !flags->job.json), flags->job.json));
    if (exit_code == kOk) print_next(fmt::format("passnet dataset stats {}", flags->root));
  });
}

void add_dataset_find(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<FindFlags>();
  dataset::GraphQuery& query = flags->query;
  CLI::App* command = group.add_subcommand("find", "find graphs by kind, operators, size and source");
  command->add_option("DATASET", flags->index, "dataset with an index, or its index")->required();
  command->add_option("--kind", query.kind, "sole_op, fusible, typical or full");
  command->add_option("--contains", query.contains,
                      "operator that the graph has, such as softmax or Tensor.view; may be repeated");
  command->add_option("--dtype", query.dtype, "float32, float16, …");
  command->add_option("--from", query.source, "timm, torchvision, transformers, …");
  command->add_option("--split", query.split, "train or eval");
  command->add_option("--list", query.list, "only graphs in this list, such as all");
  command->add_option("--min-bytes", query.min_bytes, "size of inputs at least, such as 1MB")
      ->transform(CLI::AsSizeValue(false));
  command->add_option("--max-bytes", query.max_bytes, "size of inputs at most")->transform(CLI::AsSizeValue(false));
  command->add_option("--min-ops", query.min_ops, "number of operators at least");
  command->add_option("--max-ops", query.max_ops, "number of operators at most");
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet dataset find dataset --kind fusible --contains softmax --min-bytes 1MB");
  command->callback([flags, &exit_code] { exit_code = finish(run_find(*flags)); });
}

void add_dataset_stats(CLI::App& group, int& exit_code) {
  auto flags = std::make_shared<StatsFlags>();
  CLI::App* command = group.add_subcommand("stats", "count graphs by kind, dtype, source, split, size and operator");
  command->add_option("DATASET", flags->index, "dataset with an index, or its index")->required();
  command->add_option("--limit", flags->operators, "number of operators to list")->capture_default_str();
  add_json_flag(*command, flags->json);
  command->footer("Example:  passnet dataset stats dataset");
  command->callback([flags, &exit_code] { exit_code = finish(run_stats(*flags)); });
}

}  // namespace passnet::cli
