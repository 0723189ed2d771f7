// Timed calls that are real calls: each on a set of inputs of its own (runtime/session/inputs/call_sets.h), at other addresses, with the
// buffers of kernels filled with random bytes; what it returns is kept. Internal to runtime/ (includes torch).
#pragma once

#include <vector>

#include "protocol/messages.h"
#include "runtime/session/inputs/call_sets.h"
#include "runtime/session/loaded_graph.h"

namespace passnet::runtime {

struct FreshTimes {
  std::vector<CallResult> results;  // per call
  protocol::CallTimes times;        // times_us: of one call, one per reading of the clock
};

/// One call on each of the graph's first `calls` sets. together: calls between two readings of the clock; more than 1 only
/// for graphs for which the candidate hands all of them over at once. settling: on the inputs of the checked call.
/// Throws KernelFault when a kernel wrote beside its buffers. Errors: BadInput, and of the graph.
/// REQUIRES: it has sets.
Result<FreshTimes> time_fresh_calls(LoadedGraph& graph, const protocol::TimeOnSets& options);

}  // namespace passnet::runtime
