// Operators in place: what they overwrite must hold what it does in PyTorch, whenever it is looked at.
#pragma once

#include <vector>

#include "author/define/definitions.h"
#include "author/subject/part.h"
#include "base/result.h"

namespace passnet::author {

/// Tells whether what `id` overwrites is looked at later through another view of it. users: by node id.
bool old_view_is_needed(const ir::Graph& graph, ir::NodeId id, const std::vector<std::vector<ir::NodeId>>& users);

/// Refuses a part that overwrites a value which is looked at outside before: the part is computed at one time. Errors:
/// Unsupported.
Result<void> check_old_values(const Subject& subject, const GraphPart& part);

/// Inputs of the graph that the part overwrites must hold what they do in PyTorch. Returns the values that are stored there.
/// Errors: Unsupported: they are views, or no tensors.
Result<std::vector<TensorId>> overwrite_inputs(const Subject& subject, Definitions& definitions, const GraphPart& part);

}  // namespace passnet::author
