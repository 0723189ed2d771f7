// Choices by what lies at the edge of a dimension: where all neighbours are inside, they take one branch.
#pragma once

#include <optional>
#include <vector>

#include "author/loops/expression.h"

namespace passnet::author {

struct Edge {
  std::vector<ExprId> others;  // conditions that are the same for all neighbours
  IndexId at = 0;
  SizeId step = 0, extent = 0;  // from one to the next; at must lie below extent
};
/// Of a Guard, for neighbours along a loop. nullopt: they differ in more than one of its conditions, or in another way than by
/// where they are, or in none.
std::optional<Edge> edge_of(ExprTable& exprs, ExprId guard, VariableId lane);

}  // namespace passnet::author
