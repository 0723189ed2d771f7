// Inputs that a call may write to.
#pragma once

#include <vector>

#include "ir/graph.h"

namespace passnet::ir {

/// By placeholder: false only where no operator writes to it, nor to a value that may share its memory (ops/memory.h).
std::vector<bool> inputs_that_may_be_written(const Graph& graph);

}  // namespace passnet::ir
