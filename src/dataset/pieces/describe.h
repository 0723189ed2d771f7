// Records of weight_meta.py for the arguments of a piece: those that the whole graph has for its own arguments, and new
// ones for values that it computes.
#pragma once

#include <string>
#include <vector>

#include "analysis/cut.h"
#include "base/json.h"
#include "base/result.h"
#include "graphdir/meta.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

/// piece:    cut out of `whole`.
/// values:   VALUE (docs/protocol.md) by the name of the node in the whole graph, with statistics where they were
///           measured.
/// Returns:  a record per argument of the piece. A floating value without statistics is recorded as normally
///           distributed.
/// Errors:   Unsupported, with a reason that is the same for all such pieces, so that a summary can count it ("an input
///           is no tensor"): an input that is not a tensor, or integers or truth values without statistics.
Result<std::vector<graphdir::TensorMeta>> describe_inputs(const analysis::Piece& piece, const graphdir::GraphDir& whole,
                                                          const Json& values);

}  // namespace passnet::dataset
