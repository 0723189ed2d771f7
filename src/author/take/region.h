// Chooses the operators of a graph that one pass takes: those that can be written, as many as are connected.
#pragma once

#include <string>
#include <vector>

#include "author/subject/subject.h"

namespace passnet::author {

/// Refuses lists whose parts go where no kernel can be written, and what takes such parts: a tuple cannot leave a region.
void refuse_lists(const Subject& subject, std::vector<std::string>& refused);

/// Operators that hang together, hold no refused one, and can be computed at one time: no path leads out of a region and
/// back. Each in graph order.
std::vector<std::vector<ir::NodeId>> regions_of(const Subject& subject, const std::vector<std::string>& refused);

}  // namespace passnet::author
