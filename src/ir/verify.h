// What a legal graph is. Passes that rewrite graphs are checked with it.
#pragma once

#include "base/result.h"
#include "ir/graph.h"

namespace passnet::ir {

/// Placeholders first, one output and it is last, every value used after its definition, names unique and not empty.
/// Errors: BadInput at the offending node, naming it.
Result<void> verify(const Graph& graph);

}  // namespace passnet::ir
