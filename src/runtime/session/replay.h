// The inputs of a graph from its records. Free of torch.
#pragma once

#include <cstdint>

#include "base/result.h"
#include "graphdir/meta.h"
#include "runtime/tensor/shared_tensors.h"

namespace passnet::runtime {

/// The tensors that the records describe, drawn with `seed` (graphdir/replay.h); elements that are not finite are
/// replaced. Errors: BadInput with position, Io, Resource.
Result<SharedTensors> replay_inputs(const graphdir::Metas& metas, uint32_t seed);

}  // namespace passnet::runtime
