// passnet graph check|show|stats: read graphs, without PyTorch and without running anything.
#include <filesystem>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "command.h"
#include "fx/graph_check.h"
#include "fx/parser.h"
#include "fx/print.h"

namespace passnet::cli {

namespace {

Result<ExitCode> check_graphs(const std::vector<std::string>& paths, bool json) {
  PASSNET_TRY(const std::vector<std::filesystem::path> graphs, fx::find_graphs(paths));
  std::vector<fx::GraphCheck> checks;
  size_t parsed = 0, failed = 0;
  for (const std::filesystem::path& path : graphs) {
    const fx::GraphCheck& check = checks.emplace_back(fx::check_graph(path));
    parsed += check.parsed ? 1 : 0;
    failed += check.roundtrip ? 0 : 1;
    if (json) continue;
    if (check.error) fmt::print("{}\n", to_string(*check.error));
    else fmt::print("{}: ok, {} nodes\n", check.path, check.nodes);
  }
  if (json) fmt::print("{}\n", fx::to_json(checks).dump());
  else fmt::print("{} graphs, {} read, {} printed and read back equal, {} failed\n", graphs.size(), parsed, graphs.size() - failed, failed);
  return failed == 0 ? kOk : kBadInput;
}

Result<ExitCode> show_graph(const std::string& path) {
  PASSNET_TRY(const ir::Graph graph, fx::load_model(path));
  fmt::print("{}", fx::print_model(graph));
  return kOk;
}

Result<ExitCode> graph_stats(const std::vector<std::string>& paths, bool json) {
  PASSNET_TRY(const std::vector<std::filesystem::path> found, fx::find_graphs(paths));
  std::vector<ir::Graph> graphs;
  for (const std::filesystem::path& path : found) {
    PASSNET_TRY(ir::Graph graph, fx::load_model(path.string()));
    graphs.push_back(std::move(graph));
  }
  const fx::GraphStats stats = fx::count_operators(graphs);
  if (json) {
    fmt::print("{}\n", fx::to_json(stats).dump());
    return kOk;
  }
  fmt::print("{} graphs, {} nodes, {} placeholders, {} outputs\n\n   calls  graphs  operator\n", stats.graphs, stats.nodes,
             stats.placeholders, stats.outputs);
  for (const fx::OperatorCount& row : stats.operators)
    fmt::print("{:8}  {:6}  {} {}\n", row.calls, row.graphs, fx::kind_name(row.kind), row.target);
  return kOk;
}

void finish(const Result<ExitCode>& result, int& exit_code) {
  exit_code = result ? *result : report_error(result.error());
}

}  // namespace

void add_graph(CLI::App& app, int& exit_code) {
  CLI::App* group = app.add_subcommand("graph", "read, check and print graphs");
  group->require_subcommand(1);
  auto paths = std::make_shared<std::vector<std::string>>();
  auto json = std::make_shared<bool>(false);
  const auto add = [&](const char* name, const char* help, const char* example, auto run) {
    CLI::App* command = group->add_subcommand(name, help);
    command->add_option("PATH", *paths, "graph directories, or directories that hold some")->required();
    command->add_flag("--json", *json, "JSON on stdout");
    command->footer(std::string("Example:  ") + example);
    command->callback([=, &exit_code] { finish(run(*paths, *json), exit_code); });
  };
  add("check", "read each graph, print it and read it back: must be equal", "passnet graph check --json samples", check_graphs);
  add("stats", "operators by number of uses", "passnet graph stats samples", graph_stats);

  auto path = std::make_shared<std::string>();
  CLI::App* show = group->add_subcommand("show", "print a graph as the model.py that PassNet writes");
  show->add_option("GRAPH_DIR", *path, "graph directory or model.py")->required();
  show->footer("Example:  passnet graph show samples/vit_add_layer_norm/graphs/b1_float32");
  show->callback([=, &exit_code] { finish(show_graph(*path), exit_code); });
}

}  // namespace passnet::cli
