// What `passnet graph check` and `passnet graph stats` compute: reading graphs, printing them back, counting
// operators.
#pragma once

#include <filesystem>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "base/json.h"
#include "base/result.h"
#include "ir/graph.h"

namespace passnet::fx {

/// One model.py, checked. Later stages are false when an earlier one failed.
struct GraphCheck {
  std::string path;            // as given
  bool parsed = false;         // read into a graph
  bool roundtrip = false;      // the graph printed reads back equal
  size_t nodes = 0;            // placeholders and output included
  size_t size_bytes = 0;       // of the text
  std::optional<Error> error;  // why a stage failed
};

/// Parses a model.py, prints the graph, parses that and compares.
/// path: a graph directory or a model.py. Never fails as a call: what is wrong with the graph stands in
/// `error`.
GraphCheck check_graph(const std::filesystem::path& path);

/// The directories with a model.py at or below each of `paths` (a model.py stands for its directory), in
/// order. Errors: BadInput when a path does not exist or holds no graph.
Result<std::vector<std::filesystem::path>> find_graphs(const std::vector<std::string>& paths);

/// {"graphs": n, "parsed": n, "roundtrip": n, "failed": [{"path", "error"}, …]}
Json to_json(std::span<const GraphCheck> checks);

/// How often each operator occurs, over many graphs.
struct OperatorCount {
  ir::NodeKind kind;
  std::string target;
  size_t calls = 0;
  size_t graphs = 0;  // in how many graphs it occurs
};
struct GraphStats {
  size_t graphs = 0, nodes = 0, placeholders = 0, outputs = 0;
  std::vector<OperatorCount> operators;  // most calls first, then by name
};
GraphStats count_operators(std::span<const ir::Graph> graphs);
/// {"graphs", "nodes", "placeholders", "outputs", "operators": [{"kind", "target", "calls", "graphs"}, …]}
Json to_json(const GraphStats& stats);

/// "function", "method", "operator", "attribute", "placeholder", "output".
std::string_view kind_name(ir::NodeKind kind);

}  // namespace passnet::fx
