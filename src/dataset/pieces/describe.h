// Records of weight_meta.py for the arguments of a piece: those that the whole graph has for its own arguments, and new
// ones for values that it computes.
#pragma once

#include <string>
#include <vector>

#include "analysis/cut.h"
#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "graphdir/sample.h"
#include "ir/value.h"

namespace passnet::dataset {

/// piece:    cut out of `whole`.
/// Returns:  the names of the values that it starts from and that the whole graph computes: those that have no record.
std::vector<std::string> computed_inputs(const analysis::Piece& piece, const ir::Graph& whole);

/// piece:    cut out of `whole`.
/// values:   by node id of the whole graph, with statistics where they were measured.
/// Returns:  a record per argument of the piece. A floating value without statistics is recorded as normally
///           distributed.
/// Errors:   Unsupported, with a reason that is the same for all such pieces, so that a summary can count it ("an input
///           is no tensor"): an input that is not a tensor, or integers or truth values without statistics.
Result<std::vector<graphdir::TensorMeta>> describe_inputs(const analysis::Piece& piece, const graphdir::GraphDir& whole,
                                                          const ir::Values& values);

}  // namespace passnet::dataset
