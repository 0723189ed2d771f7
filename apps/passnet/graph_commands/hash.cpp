// passnet graph hash: the hash of each graph, beside the stored one.

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "base/file/file.h"
#include "base/text/strings.h"
#include "command.h"
#include "fx/syntax/parser.h"
#include "graph_commands/graph.h"
#include "graphdir/graph_check.h"
#include "graphdir/graph_hash.h"
#include "graphdir/sample.h"

namespace passnet::cli {

namespace {

struct Hashed {
  std::string path, hash, stored;  // stored: empty when there is none
  std::optional<graphdir::HashRule> rule;
  std::optional<Error> error;
};

Hashed hash_found(const graphdir::GraphWalk::Found& found) {
  Hashed hashed{found.path.string(), {}, {}, {}, found.error};
  if (hashed.error) return hashed;
  const Result<ir::Graph> graph = fx::load_model(hashed.path);
  if (!graph) {
    hashed.error = graph.error();
    return hashed;
  }
  hashed.hash = graphdir::graph_hash(*graph);
  const auto directory = graphdir::graph_directory(found.path);
  if (!directory) return hashed;
  if (const auto text = read_beneath(*directory, "graph_hash.txt", FileKind::Line)) {
    hashed.stored = trim(*text);
    hashed.rule = graphdir::find_hash_rule(*graph, hashed.stored);
  }
  return hashed;
}

Json to_json(const Hashed& hashed) {
  if (hashed.error) return {{"path", hashed.path}, {"error", to_string(*hashed.error)}};
  return {{"path", hashed.path},
          {"hash", hashed.hash},
          {"stored", hashed.stored.empty() ? Json(nullptr) : Json(hashed.stored)},
          {"rule", hashed.rule ? Json(name(*hashed.rule)) : Json(nullptr)}};
}

int hash_graphs(const GraphPaths& given) {
  catch_interrupts();
  bool first = true, all_read = true;
  map_graphs(given, hash_found, [&](const Hashed& hashed) {
    all_read = all_read && !hashed.error;
    if (given.json) {
      say("{}{}", Lines{std::exchange(first, false) ? "[" : ",\n"}, dump(to_json(hashed)));
    } else if (hashed.error) {
      report_error(*hashed.error);
    } else {
      say("{}  {}\n", hashed.hash, hashed.path);
    }
  });
  if (given.json) say("{}]\n", first ? "[" : "");
  if (interrupted()) return kInterrupted;
  return all_read ? kOk : kBadInput;
}

}  // namespace

void add_graph_hash(CLI::App& group, int& exit_code) {
  CLI::App* command =
      group.add_subcommand("hash", "print the hash of each graph as GraphNet stores it in graph_hash.txt");
  const auto given = add_graph_paths(*command);
  command->footer(
      "--json also prints the stored hash and the rule that gives it: graph (the hash printed here), retraced,\n"
      "retraced-by-use, own-names, model-text, or null. docs/graphs.md explains the rules.\n"
      "\n"
      "Example:  passnet graph hash samples/gpt2_gelu/graphs");
  command->callback([given, &exit_code] { exit_code = hash_graphs(*given); });
}

}  // namespace passnet::cli
