// How much of a pattern fits at a place where all of it does not: for telling near misses from far ones.
#pragma once

#include <cstdint>

#include "rewrite/pattern.h"

namespace passnet::rewrite {

/// Counts the pattern's calls that fit when its call `root` stands for the graph's node `at`. Unlike the search this
/// goes on behind a call that does not fit, along operands and users of the same operator; of several ways the first is
/// taken. A call fits when operator and arguments agree, given what the calls counted before it stand for. REQUIRES:
/// root and at call the same operator.
uint32_t count_fitting(const Pattern& pattern, PreparedGraph& graph, ir::NodeId root, ir::NodeId at, Budget& steps);

}  // namespace passnet::rewrite
