// Writes a graph directory so that it is there as a whole or not at all.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/graph_hash.h"
#include "graphdir/inputs/meta.h"
#include "ir/graph.h"

namespace passnet::graphdir {

struct GraphFiles {
  const ir::Graph& graph;
  const std::vector<TensorMeta>& metas;      // of its arguments
  const Json& facts;                         // graph_net.json
  const Json& sources;                       // subgraph_sources.json; null: none
  std::string constraints = {};              // input_tensor_constraints.py
  HashRule hash_rule = HashRule::ModelText;  // of graph_hash.txt
};

/// Writes model.py, weight_meta.py, input_meta.py (empty), input_tensor_constraints.py, graph_hash.txt and the two JSON
/// files into a temporary directory beside `path`, which is then renamed to it. When `path` exists already it is left
/// as it is, and the call succeeds.
/// Errors: Io.
Result<void> write_graph_dir(const std::filesystem::path& path, const GraphFiles& files);

}  // namespace passnet::graphdir
