// Records of weight_meta.py for the arguments of a piece: those of the whole graph, and what was learnt of
// values in between.
#pragma once

#include <string>
#include <vector>

#include "analysis/cut.h"
#include "base/result.h"
#include "graphdir/meta.h"
#include "graphdir/sample.h"
#include "ir/value.h"

namespace passnet::dataset {

/// A record per argument of `piece`, cut out of `whole`. values: by node id of
/// the whole graph, with statistics where they were measured. A value without statistics is recorded
/// as normally distributed. Errors: Unsupported, with a reason that counts in a summary ("an input is no
/// tensor"): also integers or truth values without statistics.
Result<std::vector<graphdir::TensorMeta>> describe_inputs(const analysis::Piece& piece, const graphdir::GraphDir& whole,
                                                          const ir::Values& values);

}  // namespace passnet::dataset
