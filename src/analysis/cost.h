// The least that a graph must move and compute: what its time is measured against.
#pragma once

#include <vector>

#include "ir/dtype.h"
#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::analysis {

/// Operations whose results have one element type.
struct Operations {
  ir::DType dtype = ir::DType::Float32;
  bool convolution = false;  // counted apart: PyTorch may compute those of float32 in TF32
  double count = 0;
};

struct Cost {
  double bytes_in = 0, bytes_out = 0;  // each argument read once, each output written once
  /// Two per multiply-add of products, one per element that another loop computes, none for views and copies.
  std::vector<Operations> operations;
  double flops() const;  // all of them
};

/// types:    by node id. A value that is no tensor counts as nothing.
/// Source:   docs/dataset-format.md, "Cost".
Cost cost_of(const ir::Graph& graph, const ir::Values& types);

}  // namespace passnet::analysis
