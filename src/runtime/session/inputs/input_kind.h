// Values that stress a kernel in one way each, in place of those that were recorded. Internal to runtime/ (includes
// torch).
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "graphdir/inputs/meta.h"

namespace passnet::runtime {

/// Tells whether apply_input_kind() makes the values of such a tensor out of those that were recorded.
bool needs_recorded_values(const graphdir::TensorMeta& record);

/// The records that must be replayed together for that: what is drawn for one depends on those before it, so all of them
/// where some contents have to be exactly those that were recorded.
graphdir::Metas to_replay(const graphdir::Metas& metas);

/// tensors:  those of metas.inputs, then of metas.weights, contiguous, with the recorded values where
///           needs_recorded_values(). Each gets others, as far as its `redraw` lets it: floating tensors the values of the
///           input kind (record/input_kinds.h), in the size that was recorded, what was never negative staying so; literal
///           numbers and single ones some near them; integers others of their range; truth values another share.
/// Errors:   BadInput: there is no such input kind.
Result<void> apply_input_kind(std::string_view input_kind, const graphdir::Metas& metas,
                              const std::vector<at::Tensor>& tensors, uint64_t seed);

}  // namespace passnet::runtime
