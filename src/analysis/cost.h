// The least that a graph must move and compute: what its time is measured against.
#pragma once

#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::analysis {

struct Cost {
  double bytes_in = 0, bytes_out = 0;  // each argument read once, each output written once
  double flops = 0;  // products count two per multiply-add; loops one per element of what they go over; views none
};

/// types: by node id. Values that are no tensors count nothing.
Cost cost_of(const ir::Graph& graph, const ir::Values& types);

/// us at least, for memory of so many GB/s and so many TFLOP/s.
double roofline_us(const Cost& cost, double gb_per_s, double tflops);

}  // namespace passnet::analysis
