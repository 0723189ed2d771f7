// A graph of the official benchmark at float16 or bfloat16, as upstream's pass and a second trace leave it.
// Source: docs/dataset-format.md, "Official graphs".
#pragma once

#include "ir/dtype.h"
#include "ir/graph.h"
#include "ir/value.h"

namespace passnet::dataset::official {

/// piece:    of float32 (cut_piece).
/// types:    by node id, of all its values.
/// Returns:  the piece traced once more, with `.to(dtype)` before each float32 value that a matrix product, convolution or
///           attention takes and that the piece computes. Such calls are named anew, after what they call. Arguments are
///           called in the body as in the signature.
ir::Graph with_amp_casts(const ir::Graph& piece, ir::DType dtype, const ir::Values& types);

/// types:    by node id of `cast`, with its float32 arguments at `dtype`.
/// Returns:  the graph without casts, among those that with_amp_casts put there, of values that have the type already.
ir::Graph without_idle_casts(const ir::Graph& cast, ir::DType dtype, const ir::Values& types);

/// piece:    as above: decides on the order in which a trace meets the arguments.
/// Returns:  `typed` with ": torch.Tensor" at all arguments when that is the order of the signature, else at the first.
ir::Graph with_annotations(const ir::Graph& typed, const ir::Graph& piece);

}  // namespace passnet::dataset::official
