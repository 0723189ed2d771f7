// Which inputs the kernels of a pass may overwrite.
//
// A replacement computes new values, and its inputs stay as they are: others may need them. Where nobody does, a plan may
// write into an input, as a pattern with an in-place operator does itself.
#pragma once

#include "base/result.h"
#include "ir/graph.h"
#include "run/apply/passes.h"

namespace passnet::run {

/// Sets `may_be_written` of the inputs in rewritten.lists that no node behind their site has to do with and that are no
/// input of the graph, or one that `original`, the graph before the passes, overwrites too.
/// Errors: BadPass: a plan copies into another input.
Result<void> note_overwrites(const ir::Graph& original, Rewritten& rewritten);

}  // namespace passnet::run
