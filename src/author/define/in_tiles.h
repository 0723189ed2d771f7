// The choice of products of many steps that kernels compute in tiles of sums.
#pragma once

#include <cstdint>

namespace passnet::author {

enum class InTiles : uint8_t {
  None,
  OnGpu,  // convolutions whose windows overlap or hang over an edge where channels go in blocks: libraries are faster at others
  OnCpu,
};

/// Channels of a block, of which a GPU's tile has one place of all windows after the other (passnet/gpu/products.h).
inline constexpr int64_t kBlockOfChannels = 16;

}  // namespace passnet::author
