// passnet graph check: reads every file of every graph, prints it back, compares.
#include <fmt/format.h>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "command.h"
#include "graph_commands/graph.h"
#include "graphdir/graph_check.h"

namespace passnet::cli {

namespace {

graphdir::GraphCheck check_found(const graphdir::GraphWalk::Found& found) {
  if (!found.error) return graphdir::check_graph(found.path);
  graphdir::GraphCheck check;
  check.path = found.path.string();
  check.error = found.error;
  return check;
}

std::string hash_text(const graphdir::GraphCheck& check) {
  if (!check.has_hash) return "no hash";
  return check.hash_rule ? fmt::format("hash equal ({})", name(*check.hash_rule)) : "hash not reproduced";
}

void print_line(const graphdir::GraphCheck& check) {
  if (check.error) return say("{}\n", Lines{to_string(*check.error)});
  say("{}: ok, {} nodes, {}{}{}\n", check.path, check.nodes, hash_text(check),
      check.missing.empty() ? "" : ", cannot be run without ", join(check.missing, ", "));
}

void print_summary(const graphdir::CheckSummary& summary) {
  say("{} graphs, {} read, {} printed and read back equal, {} failed\n", summary.graphs, summary.parsed,
      summary.roundtrip, summary.failed.size());
  say("hashes: {} equal, {} not reproduced, {} absent\n", summary.hash_equal, summary.hash_different,
      summary.hash_absent);
}

int check_graphs(const GraphPaths& given) {
  catch_interrupts();
  graphdir::CheckSummary summary;
  report::CountLine progress("graphs");
  map_graphs(given, check_found, [&](const graphdir::GraphCheck& check) {
    summary.add(check);
    if (!given.json) progress.clear(), print_line(check);
    progress.count(check.path);
  });
  progress.clear();
  if (given.json) {
    Json json = to_json(summary);
    if (interrupted()) json["interrupted"] = true;
    say("{}\n", dump(json));
  } else {
    print_summary(summary);
  }
  if (interrupted()) return kInterrupted;
  return summary.failed.empty() ? kOk : kBadInput;
}

}  // namespace

void add_graph_check(CLI::App& group, int& exit_code) {
  CLI::App* command = group.add_subcommand(
      "check", "read all files of each graph, write them as text, and compare with what that text says");
  const auto given = add_graph_paths(*command);
  command->footer(
      "Checks model.py, weight_meta.py, input_meta.py, input_tensor_constraints.py, graph_net.json and "
      "graph_hash.txt.\n"
      "A hash that no rule reproduces is counted; it is no error. Exit code 3: a graph failed; 130: Ctrl-C.\n"
      "\n"
      "Example:  passnet graph check samples\n"
      "          passnet graph check --json corpus/graphnet | jq .failed");
  command->callback([given, &exit_code] { exit_code = check_graphs(*given); });
}

}  // namespace passnet::cli
