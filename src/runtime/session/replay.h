// The inputs of a graph from its records. Free of torch.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "record/input_kinds.h"
#include "runtime/tensor/shared_tensors.h"

namespace passnet::runtime {

/// Seed of random operators in a call on these inputs: no kernel can have what they draw built in. On the inputs that
/// everybody has, those of the public benchmark, it is kCallSeed.
uint64_t call_seed_of(uint32_t seed, std::string_view input_kind);

/// The tensors that the records describe, drawn with `seed` (graphdir/inputs/replay.h); elements that are not finite are
/// replaced. input_kind: a name of runtime/session/inputs/input_kind.h, whose values take their place.
/// Errors: BadInput with position, or an input kind that there is not; Io, Resource.
Result<SharedTensors> replay_inputs(const graphdir::Metas& metas, uint32_t seed,
                                    std::string_view input_kind = record::kRecordedKind);

}  // namespace passnet::runtime
