// Calls of a loaded graph, timed one by one. Internal to runtime/ (includes torch).
#pragma once

#include "runtime/session/loaded_graph.h"

namespace passnet::runtime {

/// As Session::time.
Result<CallTimes> time_calls(LoadedGraph& graph, const TimeOptions& options);

}  // namespace passnet::runtime
