// The reward of passes as a flat object of numbers, in the form that verifiers of tasks write.
#pragma once

#include "agent/tools/tool.h"
#include "base/json/json.h"

namespace passnet::agent {

/// Returns: {"reward", "score", "correct", "coverage", "fast_1"}: the score twice, then shares of the graphs in which a pass
///          applies and is right, in which one applies, and which are right and faster than eager.
/// Errors:  Resource: the machine was too busy to measure a graph.
Result<Json> reward_numbers(const Records& records);

}  // namespace passnet::agent
