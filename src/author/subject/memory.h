// Which values of a graph lie in the memory of others.
#pragma once

#include "author/subject/subject.h"

namespace passnet::author {

/// Whether what the node gives lies where its first argument lies, and so must what a plan returns for it.
bool shares_memory(const Subject& subject, ir::NodeId id);

}  // namespace passnet::author
