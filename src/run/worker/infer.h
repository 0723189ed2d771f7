// The types of a graph's values without running it: what the worker infers from the metas.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "base/json.h"
#include "graphdir/sample.h"
#include "run/worker/requests.h"
#include "run/worker/worker.h"

namespace passnet::run {

struct InferredTypes {
  Json values;                     // by node name: VALUE of docs/protocol.md, or {"unknown": "why"}
  std::vector<std::string> texts;  // by node id: "float32[1, 3]", "(float32[2], int64[2])", "int"; "" for the output
  size_t unknown = 0;              // nodes whose type depends on data
};

/// REQUIRES: graph.graph is loaded under `id` in a reference worker. Errors: what the worker says.
Result<InferredTypes> infer_types(Worker& worker, const std::string& id, const graphdir::GraphDir& graph,
                                  std::chrono::milliseconds timeout);
/// The same with other metas than those beside the graph.
Result<InferredTypes> infer_types(Worker& worker, const std::string& id, const ir::Graph& graph, const MetaTexts& metas,
                                  std::chrono::milliseconds timeout);

}  // namespace passnet::run
