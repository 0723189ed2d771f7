// The types of a whole graph's values at several sizes of its inputs, as a worker infers them without
// running.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "analysis/size_expression.h"
#include "base/result.h"
#include "graphdir/meta.h"
#include "ir/graph.h"
#include "run/worker/worker.h"

namespace passnet::dataset {

struct Types {
  analysis::ValueShapes shapes;
  int64_t largest_bytes = 0;  // of a value that is computed
};

class Typing {
 public:
  /// graph: as captured; the values of others are told by its names. id: of the graph in the worker.
  Typing(const ir::Graph& graph, run::Worker& worker, std::string id, std::chrono::milliseconds timeout)
      : graph_(graph), worker_(worker), id_(std::move(id)), timeout_(timeout) {}

  /// To be called first. metas: of the placeholders, in their order, as captured. Errors: of the worker.
  Result<void> infer_captured(const std::vector<graphdir::TensorMeta>& metas);
  const analysis::ValueShapes& captured() const { return captured_; }

  /// Of the graph with size calls in between, or of another capture. What a run refuses there has no type
  /// (refused_by_run). Errors: of the worker.
  Result<Types> at(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& metas);
  /// The same for the graph that was given last, again.
  Result<Types> also_at(const std::vector<graphdir::TensorMeta>& metas);

 private:
  Result<Types> infer(const std::vector<graphdir::TensorMeta>& metas);
  Result<void> load(const ir::Graph& graph);

  const ir::Graph& graph_;
  run::Worker& worker_;
  const std::string id_;
  const std::chrono::milliseconds timeout_;
  analysis::ValueShapes captured_;
};

}  // namespace passnet::dataset
