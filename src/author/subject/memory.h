// Which values of a graph lie in the memory of others.
#pragma once

#include <vector>

#include "author/subject/subject.h"

namespace passnet::author {

/// Whether what the node gives lies where its first argument lies, and so must what a plan returns for it.
bool shares_memory(const Subject& subject, ir::NodeId id);
/// The same of each of the graphs. A conversion does where what it takes has the type already.
std::vector<bool> where_shares_memory(const Subject& subject, ir::NodeId id);

}  // namespace passnet::author
