// The least time that a call of a graph can take on the machine that it is evaluated on.
#pragma once

#include <vector>

#include "ir/graph.h"
#include "ir/value.h"
#include "record/floor.h"
#include "run/measure/calibration.h"

namespace passnet::run {

/// types:        by node id, as a call made them.
/// owned:        as least_bytes().
/// reference_us: what a call of the graph as it was captured takes.
record::Floor graph_floor(const ir::Graph& graph, const ir::Values& types, const std::vector<bool>& owned,
                          const Calibration& machine, double reference_us);

}  // namespace passnet::run
