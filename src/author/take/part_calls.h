// How a part of a graph makes the calls of PyTorch in it, and which operators it is better off without.
#pragma once

#include "author/define/definitions.h"
#include "author/subject/part.h"
#include "author/take/taken.h"

namespace passnet::author {

/// How the calls of a part are made: without biases that kernels add, where nobody else looks at the results.
ProductOptions product_options(const Subject& subject, const GraphPart& part, const Taken& taken);

/// Leaves calls to PyTorch that passes gain nothing by. Returns: whether there was one.
bool refuse_idle_calls(const Subject& subject, Taken& taken);
/// Operators whose results leave a part in an order that no kernel writes are left to PyTorch; the rest of the part is not.
/// Returns: whether there was one.
bool refuse_layouts(Subject& subject, Taken& taken);
/// Conversions that leave a part are left to PyTorch where in some graphs they are what no kernel may write, and others see that.
/// Returns: whether there was one.
bool refuse_conversions(const Subject& subject, Taken& taken);

}  // namespace passnet::author
