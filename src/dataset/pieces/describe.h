// Records of weight_meta.py for the arguments of a piece: those of the whole graph, and what was learnt of
// values in between.
#pragma once

#include <string>
#include <vector>

#include "analysis/cut.h"
#include "base/json.h"
#include "base/result.h"
#include "graphdir/meta.h"
#include "graphdir/sample.h"

namespace passnet::dataset {

/// A record per argument of `piece`, cut out of `whole`. values: VALUE (docs/protocol.md) by the names of
/// nodes of the whole graph, with statistics where they were measured. A value without statistics is recorded
/// as normally distributed. Errors: Unsupported, with a reason that counts in a summary ("an input is no
/// tensor"): also integers or truth values without statistics.
Result<std::vector<graphdir::TensorMeta>> describe_inputs(const analysis::Piece& piece, const graphdir::GraphDir& whole,
                                                          const Json& values);

}  // namespace passnet::dataset
