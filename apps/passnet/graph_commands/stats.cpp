// passnet graph stats: operators over many graphs, by number of uses.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "command.h"
#include "fx/syntax/parser.h"
#include "graph_commands/graph.h"
#include "graphdir/graph_stats.h"

namespace passnet::cli {

namespace {

struct Counted {
  std::string path;
  Result<graphdir::GraphStats> stats;
};

Counted count_found(const graphdir::GraphWalk::Found& found) {
  if (found.error) return {found.path.string(), *found.error};
  const Result<ir::Graph> graph = fx::load_model(found.path.string());
  if (!graph) return {found.path.string(), graph.error()};
  return {found.path.string(), graphdir::GraphStats(*graph)};
}

int count_graphs(const GraphPaths& given) {
  catch_interrupts();
  graphdir::GraphStats sum;
  Json failed = Json::array();
  report::CountLine progress("graphs");
  map_graphs(given, count_found, [&](const Counted& counted) {
    if (counted.stats) {
      sum.add(*counted.stats);
    } else {
      progress.clear();
      report_error(counted.stats.error());
      failed.push_back({{"path", counted.path}, {"error", to_string(counted.stats.error())}});
    }
    progress.count(counted.path);
  });
  progress.clear();
  const bool all_read = failed.empty();
  if (given.json) {
    Json json = to_json(sum);
    json["failed"] = std::move(failed);
    if (interrupted()) json["interrupted"] = true;
    say("{}\n", dump(json));
  } else {
    print_result(render_stats(sum));
    if (!all_read) say("\n{} not read, see above\n", failed.size());
  }
  if (interrupted()) return kInterrupted;
  return all_read ? kOk : kBadInput;
}

}  // namespace

void add_graph_stats(CLI::App& group, int& exit_code) {
  CLI::App* command = group.add_subcommand("stats", "count the operators of graphs");
  const auto given = add_graph_paths(*command);
  command->footer(
      "A graph that cannot be read is reported and left out; the exit code is then 3.\n\n"
      "Example:  passnet graph stats samples\n"
      "          passnet graph stats --json corpus/graphnet | jq '.operators[:10]'");
  command->callback([given, &exit_code] { exit_code = count_graphs(*given); });
}

}  // namespace passnet::cli
