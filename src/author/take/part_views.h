// Views where a part of a graph begins and ends: which of them are PyTorch's, which the plan's, and whose memory they lie in.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "author/subject/part.h"
#include "base/result.h"

namespace passnet::author {

/// The nodes that make a view of what is stored, or of an input, from the first; empty for what has memory of its own.
std::vector<ir::NodeId> view_chain(const Subject& subject, const GraphPart& part, ir::NodeId id);
/// Returns the value whose memory the given one lies in, as far as the part goes.
ir::NodeId holder_of(const Subject& subject, const GraphPart& part, ir::NodeId id);
/// Returns the value that a stored one is in graphs where conversions find the type that they give: another one that
/// the part stores, or one that it is given. None: it has memory of its own in all graphs.
std::optional<ir::NodeId> same_in_some(const Subject& subject, const GraphPart& part, ir::NodeId id);

/// The part without views that leave it, and that it does not go on with, which stay PyTorch's; with those that the plan makes
/// of results. Errors: Unsupported: nothing is left.
Result<GraphPart> without_views(const Subject& subject, GraphPart part);
/// The part, where the plan makes the views too that calls take. calls: by what is called.
GraphPart with_views_of_calls(const Subject& subject, GraphPart part, const std::map<ir::NodeId, std::string>& calls);

}  // namespace passnet::author
