// Calls of a loaded graph, timed one by one. Internal to runtime/ (includes torch).
#pragma once

#include "protocol/messages.h"
#include "runtime/session/loaded_graph.h"

namespace passnet::runtime {

/// Calls, each timed by itself. What is not timed: restoring inputs that the graph changes, making fresh ones,
/// seeding, recording, hashing outputs, freeing them. Throws KernelFault when a kernel changed an input.
Result<protocol::CallTimes> time_calls(LoadedGraph& graph, const protocol::Time& options);
/// Calls and nothing else, so that whoever asks can tell by a clock of its own whether those here are right: what
/// time_calls() leaves out is inside the clock. Throws KernelFault when a kernel changed an input.
Result<protocol::ReadClocks::Reply> read_clocks(LoadedGraph& graph, int64_t calls);

}  // namespace passnet::runtime
