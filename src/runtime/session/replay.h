// The inputs of a graph from its records. Free of torch.
#pragma once

#include <cstdint>
#include <string>

#include "base/result.h"
#include "runtime/tensor/shared_tensors.h"

namespace passnet::runtime {

/// The tensors that the records in weight_meta.py and input_meta.py describe, drawn with `seed` (graphdir/replay.h);
/// elements that are not finite are replaced. Errors: BadInput with position, Io, Resource.
Result<SharedTensors> replay_inputs(const std::string& weight_meta, const std::string& input_meta, uint32_t seed);

}  // namespace passnet::runtime
