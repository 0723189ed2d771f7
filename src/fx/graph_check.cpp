#include "fx/graph_check.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <memory>
#include <nlohmann/json.hpp>

#include "base/strings.h"
#include "fx/parser.h"
#include "fx/print.h"
#include "fx/sample.h"

namespace passnet::fx {

namespace fs = std::filesystem;

GraphCheck check_graph(const fs::path& path) {
  GraphCheck check;
  check.path = path.string();
  const Result<ir::Graph> graph = load_model(path.string());
  if (!graph) {
    check.error = graph.error();
    return check;
  }
  check.parsed = true;
  check.nodes = graph->size();
  check.size_bytes = graph->source->size();
  const auto printed = std::make_shared<const std::string>(print_model(*graph));
  const Result<ir::Graph> again = parse_model(graph->file + " (printed)", printed);
  if (!again) {
    check.error = Error(again.error()).with_note("while reading back what was printed");
    return check;
  }
  const std::string difference = first_difference(*graph, *again);
  check.roundtrip = difference.empty();
  if (!check.roundtrip) {
    check.error = unsupported(fmt::format("the printed graph reads back different: {}", difference),
                              SourceLoc{graph->file, 0, 0});
  }
  return check;
}

Result<std::vector<fs::path>> find_graphs(const std::vector<std::string>& paths) {
  std::vector<fs::path> found;
  for (const std::string& given : paths) {
    const fs::path path(given);
    std::error_code status;
    if (fs::is_regular_file(path, status)) {
      found.push_back(path);
      continue;
    }
    if (!fs::is_directory(path, status))
      return bad_input(fmt::format("{} does not exist", quoted(given, 400)));
    const std::vector<fs::path> below = find_graph_dirs(path);
    if (below.empty()) {
      return bad_input(fmt::format("found no graph at or below {}, expected directories with model.py",
                                   quoted(given, 400)));
    }
    found.insert(found.end(), below.begin(), below.end());
  }
  return found;
}

Json to_json(std::span<const GraphCheck> checks) {
  Json failed = Json::array();
  for (const GraphCheck& check : checks) {
    if (check.error) failed.push_back({{"path", check.path}, {"error", to_string(*check.error)}});
  }
  return {{"graphs", checks.size()},
          {"parsed", std::ranges::count(checks, true, &GraphCheck::parsed)},
          {"roundtrip", std::ranges::count(checks, true, &GraphCheck::roundtrip)},
          {"failed", std::move(failed)}};
}

std::string_view kind_name(ir::NodeKind kind) {
  switch (kind) {
    case ir::NodeKind::Placeholder:
      return "placeholder";
    case ir::NodeKind::CallFunction:
      return "function";
    case ir::NodeKind::CallMethod:
      return "method";
    case ir::NodeKind::Operator:
      return "operator";
    case ir::NodeKind::Attribute:
      return "attribute";
    case ir::NodeKind::Output:
      return "output";
  }
  return "unknown";
}

GraphStats count_operators(std::span<const ir::Graph> graphs) {
  struct Count {
    size_t calls = 0, graphs = 0;
    const ir::Graph* last = nullptr;
  };
  GraphStats stats;
  std::map<std::pair<ir::NodeKind, std::string_view>, Count> counts;
  for (const ir::Graph& graph : graphs) {
    ++stats.graphs;
    stats.nodes += graph.size();
    stats.placeholders += graph.placeholder_count();
    for (const ir::Node& node : graph.nodes()) {
      if (node.kind == ir::NodeKind::Placeholder) continue;
      if (node.kind == ir::NodeKind::Output) {
        for_each_input(graph, node, [&](ir::NodeId) { ++stats.outputs; });
        continue;
      }
      Count& count = counts[{node.kind, node.target}];
      ++count.calls;
      if (count.last != &graph) ++count.graphs;
      count.last = &graph;
    }
  }
  for (const auto& [key, count] : counts) {
    stats.operators.push_back({key.first, std::string(key.second), count.calls, count.graphs});
  }
  std::ranges::stable_sort(stats.operators, std::ranges::greater{}, &OperatorCount::calls);
  return stats;
}

Json to_json(const GraphStats& stats) {
  Json operators = Json::array();
  for (const OperatorCount& count : stats.operators) {
    operators.push_back({{"kind", kind_name(count.kind)},
                         {"target", count.target},
                         {"calls", count.calls},
                         {"graphs", count.graphs}});
  }
  return {{"graphs", stats.graphs},
          {"nodes", stats.nodes},
          {"placeholders", stats.placeholders},
          {"outputs", stats.outputs},
          {"operators", std::move(operators)}};
}

}  // namespace passnet::fx
