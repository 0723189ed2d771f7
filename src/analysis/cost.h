// The least that a graph must move and compute: what its time is measured against.
#pragma once

#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::analysis {

struct Cost {
  double bytes_in = 0, bytes_out = 0;  // each argument read once, each output written once
  double flops = 0;  // two per multiply-add of products, one per element that a loop goes over, none for views
};

/// types:    by node id. A value that is no tensor counts as nothing.
/// Source:   docs/dataset-format.md, "Cost".
Cost cost_of(const ir::Graph& graph, const ir::Values& types);

/// gb_per_s: memory bandwidth in 1e9 bytes per second; tflops: arithmetic in 1e12 operations per second.
/// Returns:  the least time that both allow, in microseconds.
double roofline_us(const Cost& cost, double gb_per_s, double tflops);

}  // namespace passnet::analysis
