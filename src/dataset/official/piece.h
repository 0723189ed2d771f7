// A range of a whole model as a graph of the official benchmark: which values it takes and gives, and their names.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include <span>
#include <string>

#include "analysis/cut.h"
#include "analysis/range.h"
#include "ir/graph.h"

namespace passnet::dataset::official {

/// whole:    the model at the shapes of the variant.
/// names:    by node id: traced_names of it.
/// Returns:  the piece: arguments in_0, in_1, … sorted by `names`, weights among them. Those whose name has a capital
///           letter are called tmp_0, tmp_1, … in the body, and values follow on. Ends behind the model are its end.
/// REQUIRES: the range begins within the model.
analysis::Piece cut_piece(const ir::Graph& whole, std::span<const std::string> names, analysis::Range range);

/// Returns: the graph with the public names of functions that torch.fx calls by internal ones ("torch._C._nn.linear").
ir::Graph with_public_targets(const ir::Graph& graph);

}  // namespace passnet::dataset::official
