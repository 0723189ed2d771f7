// Choices by where an element lies: inside a dimension or beyond its edge, or in which of several parts that stand one behind
// the other. Where all neighbours lie in the same, they take one branch.
#pragma once

#include <optional>
#include <vector>

#include "author/fuse/access.h"

namespace passnet::author {

/// A condition that asks whether an index lies in a dimension.
struct Inside {
  IndexId index = 0;
  Access at;  // of the index
  SizeId extent = 0;
};
/// nullopt: the condition asks something else.
std::optional<Inside> inside_of(ExprTable& exprs, ExprId condition);

struct Edge {
  std::vector<ExprId> others;  // conditions that are the same for all neighbours
  Inside inside;               // the one that is not
  SizeId step = 0;             // of its index, from one to the next
};
/// Describes a Guard for neighbours along a loop. nullopt: they differ in more than one of its conditions, or in
/// another way than by where they are, or in none.
std::optional<Edge> edge_of(ExprTable& exprs, ExprId guard, VariableId lane);

/// Parts of a concatenation, one behind the other along an index.
struct Parts {
  IndexId index = 0;
  SizeId step = 0;           // of the index, from one neighbour to the next
  std::vector<SizeId> ends;  // of all but the last
  std::vector<ExprId> values;
};
/// Describes a Guard without the step. nullopt: it asks something else.
std::optional<Parts> any_parts_of(ExprTable& exprs, ExprId guard);
/// Describes a Guard for neighbours along a loop. nullopt: they take a part by something else, or all the same one.
std::optional<Parts> parts_of(ExprTable& exprs, ExprId guard, VariableId lane);

}  // namespace passnet::author
