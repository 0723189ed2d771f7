// Names the passes of parts of a graph, and finds parts that are equal.
#pragma once

#include <set>
#include <string>

#include "author/define/definitions.h"
#include "author/subject/part.h"

namespace passnet::author {

/// Equal for parts of which one pass does for all.
std::string key_of(const Subject& subject, const GraphPart& part);
/// "add_layer_norm": by what it computes.
std::string name_of(Subject& subject, const GraphPart& part, const ProductOptions& calls);
/// `stem`, or with a number where that is taken.
std::string unique_name(const Subject& subject, const std::string& stem, std::set<std::string>& taken);

}  // namespace passnet::author
