// Turns where a search stopped, or why an occurrence was refused, into words a person can act on.
#pragma once

#include "rewrite/legality.h"
#include "rewrite/match.h"
#include "rewrite/search.h"

namespace passnet::rewrite {

NearestMiss explain(const Pattern& pattern, PreparedGraph& graph, const Stop& stop);
NearestMiss explain(const Pattern& pattern, PreparedGraph& graph, const Refusal& refusal);
/// The miss of a graph that never calls what the pattern's `call` calls.
/// deepest:  where the search for the rest of the pattern stopped.
NearestMiss explain_missing(const Pattern& pattern, PreparedGraph& graph, ir::NodeId call, const Stop& deepest);

}  // namespace passnet::rewrite
