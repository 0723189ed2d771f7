// Calls of a loaded graph, timed one by one. Internal to runtime/ (includes torch).
#pragma once

#include "runtime/session/loaded_graph.h"

namespace passnet::runtime {

/// As Session::time.
Result<CallTimes> time_calls(LoadedGraph& graph, const TimeOptions& options);
/// As Session::read_clocks.
Result<protocol::ReadClocks::Reply> read_clocks(LoadedGraph& graph, int64_t calls);

}  // namespace passnet::runtime
