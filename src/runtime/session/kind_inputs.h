// Inputs with other values than those that were recorded, drawn where the graph runs. Internal to runtime/ (includes
// torch).
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "runtime/session/inputs/input_set.h"

namespace passnet::runtime {

/// What replay_inputs(metas, seed, input_kind) gives, without shared memory where the graph runs on a GPU: there large
/// tensors are made on the device. Whoever calls it gets the same. Errors: as replay_inputs().
Result<std::shared_ptr<const InputSet>> draw_inputs_of_kind(const graphdir::Metas& metas, uint32_t seed,
                                                            std::string_view input_kind);

}  // namespace passnet::runtime
