// The types of a whole graph's values at several sizes of its inputs, as a worker infers them without running the
// graph.
#pragma once

#include <chrono>
#include <string>
#include <vector>

#include "analysis/size_expression.h"
#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "ir/graph.h"
#include "run/worker/worker.h"

namespace passnet::dataset {

struct Types {
  analysis::ValueShapes shapes;
  int64_t largest_bytes = 0;  // of the largest computed value
};

class Typing {
 public:
  /// graph:   as captured; in the graphs given later, a value is the one of the same name here.
  /// id:      of the graph in the worker. timeout: for each request.
  Typing(const ir::Graph& graph, run::Worker& worker, std::string id, std::chrono::milliseconds timeout)
      : graph_(graph), worker_(worker), id_(std::move(id)), timeout_(timeout) {}

  /// To be called first.
  /// metas:   of the placeholders, in their order, as captured.
  /// Errors:  those of the worker.
  Result<void> infer_captured(const std::vector<graphdir::TensorMeta>& metas);
  const analysis::ValueShapes& captured() const { return captured_; }

  /// graph:   the captured one with size calls added (with_size_calls), or another capture.
  /// metas:   of its placeholders, at the sizes asked for.
  /// Returns: the types. A node that would fail when run at these sizes (refused_by_run) has none.
  /// Errors:  those of the worker.
  Result<Types> at(const ir::Graph& graph, const std::vector<graphdir::TensorMeta>& metas);
  /// The same for the graph given to the last call of at(), which is not sent again.
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
