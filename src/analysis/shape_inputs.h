// Finds, by data flow, the inputs of a graph whose contents decide shapes (`x[mask]`, `nonzero`, sizes read by `item()`).
#pragma once

#include <vector>

#include "graphdir/sample.h"

namespace passnet::analysis {

/// Returns: by placeholder, what others may take the place of its contents with every shape staying as it is.
///   Any    No shape depends on them.
///   Order  Shapes depend on how many of the elements have some property, or on their sum or extremes: the elements go
///          one by one, and no two inputs together, into the mask, the counts or the number that decides. These are the
///          same for the elements in another order.
///   None   Shapes depend on them in some other way.
/// An operator that is not known to leave shapes alone counts as deciding them. Arithmetic on sizes does not.
std::vector<graphdir::Redraw> shape_inputs(const graphdir::GraphDir& graph);

/// Tells whether the graph converts floating values to integers. These are places as a rule, and NaN and infinities give none.
bool converts_to_integers(const graphdir::GraphDir& graph);

}  // namespace passnet::analysis
