// Tells whether the outputs of a graph depend on the contents of one input. Internal to runtime/ (includes torch).
#pragma once

#include <string>

#include "base/result.h"
#include "runtime/session/loaded_graph.h"

namespace passnet::runtime {

/// Tells whether the outputs of the last run, and the inputs that it changed, depend on what an input holds: some other
/// contents lead to others of the same shapes, beyond the tolerance at which outputs are called right.
/// REQUIRES: a run, and no kernels of a pass. Errors: BadInput: there is no such input.
Result<bool> depends_on(LoadedGraph& graph, const std::string& input);

}  // namespace passnet::runtime
