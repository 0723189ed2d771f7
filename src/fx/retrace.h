// What torch.fx makes of a printed graph when it is traced once more: the same operators, some under other
// names. Internal to fx/.
#pragma once

#include "ir/graph.h"

namespace passnet::fx {

/// The graph as a second trace gives it, without running it:
/// - A node is first called after what it calls, then after the variable it is stored in; either name gives
/// way to one
///   that was taken before. So `x_8 += y; result = x_8` becomes `x_9`, and what was `x_9` moves on.
/// - Scalars (`item()`, sizes and what is computed of them alone) keep the name of what they call.
/// - An argument that is a torch.SymInt comes as a tensor; a slice that uses it takes its `item()` first.
/// Sizes that a trace folds to constants and assertions that it rewrites are left as they stand.
ir::Graph trace_again(const ir::Graph& graph);

}  // namespace passnet::fx
