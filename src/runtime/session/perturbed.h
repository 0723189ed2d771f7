// Tells whether the outputs of a graph depend on the contents of one input. Internal to runtime/ (includes torch).
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/session/loaded_graph.h"

namespace passnet::runtime {

/// Implements Session::depends_on(). REQUIRES: the graph has no kernels of a pass.
Result<bool> depends_on(LoadedGraph& graph, const std::string& input);

}  // namespace passnet::runtime
