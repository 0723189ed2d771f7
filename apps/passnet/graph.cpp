// passnet graph check|show|stats|hash|dot: read graphs, without PyTorch and without running anything.
#include "graph.h"

#include <fmt/format.h>

#include <CLI/CLI.hpp>

#include "command.h"
#include "fx/parser.h"
#include "fx/print.h"

namespace passnet::cli {

namespace {

Result<void> show_graph(const std::string& path) {
  PASSNET_TRY(const ir::Graph graph, fx::load_model(path));
  fmt::print("{}", fx::print_model(graph));
  return {};
}

void add_graph_show(CLI::App& group, int& exit_code) {
  auto path = std::make_shared<std::string>();
  CLI::App* show = group.add_subcommand("show", "print a graph as the model.py that PassNet writes");
  show->add_option("GRAPH_DIR", *path, "graph directory or model.py")->required();
  show->footer("Example:  passnet graph show samples/vit_add_layer_norm/graphs/b1_float32");
  show->callback([=, &exit_code] {
    if (const Result<void> done = show_graph(*path); !done) exit_code = report_error(done.error());
  });
}

}  // namespace

std::shared_ptr<GraphPaths> add_graph_paths(CLI::App& command) {
  auto given = std::make_shared<GraphPaths>();
  command.add_option("PATH", given->paths, "graph directories, or directories that hold some")->required();
  command.add_flag("--json", given->json, "JSON on stdout");
  return given;
}

std::optional<fx::GraphWalk::Found> InterruptibleWalk::operator()() {
  if (interrupted()) return std::nullopt;
  return walk_.next();
}

void add_graph(CLI::App& app, int& exit_code) {
  CLI::App* group = app.add_subcommand("graph", "read, check, count, print and draw graphs");
  group->require_subcommand(1);
  add_graph_check(*group, exit_code);
  add_graph_stats(*group, exit_code);
  add_graph_hash(*group, exit_code);
  add_graph_show(*group, exit_code);
  add_graph_dot(*group, exit_code);
}

}  // namespace passnet::cli
