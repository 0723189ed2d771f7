// A graph at float64, as the judge of how much the graph at its own element types loses.
#pragma once

#include "base/result.h"
#include "ir/graph.h"

namespace passnet::analysis {

/// Returns:  the graph with float64 in place of every shorter floating type that it names, complex128 in place of
///           complex64, and autocast switched off. Node ids stay. With floating inputs at float64 it computes what the
///           graph means.
/// Errors:   Unsupported: the bits of a tensor are read as another type, which has no meaning at float64.
Result<ir::Graph> at_float64(const ir::Graph& graph);

}  // namespace passnet::analysis
