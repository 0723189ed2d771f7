// The place of an access as steps per loop variable, for vectors and merged loops.
#pragma once

#include <map>
#include <set>
#include <utility>
#include <vector>

#include "author/loops/expression.h"

namespace passnet::author {

/// steps[v] * v for each variable, and the rest: what depends on variables otherwise, or on none.
struct Access {
  std::map<VariableId, SizeId> steps;
  std::vector<std::pair<IndexId, SizeId>> rest;  // an index and what it is multiplied by
  std::set<VariableId> irregular;                // variables in `rest`

  /// How far one step of the variable goes; 0 as literal where it does not matter.
  bool moves_with(VariableId variable) const { return steps.contains(variable) || irregular.contains(variable); }
};

/// Tells whether the next step of the variable goes so many elements on, to the neighbour, and whether it goes farther
/// than that.
bool moves_by(const SizeTable& sizes, const Access& access, VariableId variable, int64_t elements);
bool moves_by_one(const SizeTable& sizes, const Access& access, VariableId variable);
bool jumps(const SizeTable& sizes, const Access& access, VariableId variable);

/// place: in a tensor with these strides.
Access access_of(ExprTable& exprs, const std::vector<IndexId>& place, const std::vector<SizeId>& strides);

}  // namespace passnet::author
