// Chooses the graphs of a sample that tell the most of a pass that may well gain nothing.
#pragma once

#include <string>
#include <vector>

#include "author/subject/subject.h"

namespace passnet::author {

/// Returns, for each element type of the first tensor of floats among the inputs, the graph of middling size. Empty
/// where these would be more than half of all: then all might as well be evaluated.
std::vector<std::string> first_look(const std::vector<Example>& examples);

}  // namespace passnet::author
