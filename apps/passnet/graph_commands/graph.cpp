// passnet graph check|show|stats|hash|dot: one or many graphs, without passes.
#include "graph_commands/graph.h"

#include <CLI/CLI.hpp>

#include "command.h"
#include "external.h"
#include "options.h"

namespace passnet::cli {

std::shared_ptr<GraphPaths> add_graph_paths(CLI::App& command) {
  auto given = std::make_shared<GraphPaths>();
  command.add_option("PATH", given->paths, "graph directories, or directories that contain some")->required();
  add_json_flag(command, given->json);
  return given;
}

std::optional<graphdir::GraphWalk::Found> InterruptibleWalk::operator()() {
  if (interrupted()) return std::nullopt;
  return walk_.next();
}

void add_graph(CLI::App& app, char** argv, int& exit_code) {
  CLI::App* group = app.add_subcommand("graph", "read, check, count, print, draw and cut graphs");
  group->require_subcommand(1);
  add_graph_check(*group, exit_code);
  add_graph_stats(*group, exit_code);
  add_graph_hash(*group, exit_code);
  add_graph_show(*group, exit_code);
  add_graph_dot(*group, exit_code);
  add_external(*group, kGraphCut, argv, exit_code);
}

}  // namespace passnet::cli
