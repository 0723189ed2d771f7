// Finds the values of a graph that lie in the memory of others.
#pragma once

#include <string>
#include <vector>

#include "author/subject/subject.h"

namespace passnet::author {

/// Tells whether what the node gives lies where its first argument lies, and so must what a plan returns for it.
bool shares_memory(const Subject& subject, ir::NodeId id);
/// The same of each of the graphs. A conversion does where what it takes has the type already.
std::vector<bool> where_shares_memory(const Subject& subject, ir::NodeId id);

/// The graphs in which what the node gives lies in the memory of what it is given where it does not in the first one, or the other
/// way round.
std::vector<std::string> sharing_otherwise(const Subject& subject, ir::NodeId id);
/// These, and those in which its dimensions lie in another order than in the first one. No kernel writes for both.
std::vector<std::string> lying_otherwise(const Subject& subject, ir::NodeId id);

}  // namespace passnet::author
