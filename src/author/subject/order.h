// In which order the dimensions of a value lie in memory.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "author/subject/subject.h"

namespace passnet::author {

/// An order of the dimensions, the one with the largest step first, in which the elements of the value lie one behind the other in
/// all graphs: as they are counted, where they do; none: there is no such order, or it is no tensor of one rank.
std::optional<std::vector<size_t>> common_order(const std::vector<ValueType>& types);

}  // namespace passnet::author
