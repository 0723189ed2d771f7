// The choices of how products of many steps are computed.
#pragma once

#include <cstdint>

namespace passnet::author {

/// The products that kernels compute in tiles of sums.
enum class InTiles : uint8_t {
  None,
  OnGpu,  // convolutions whose windows overlap or hang over an edge where channels go in blocks: libraries are faster at others
  OnCpu,
};

/// Channels of a block, of which a GPU's tile has one place of all windows after the other (passnet/gpu/products.h).
inline constexpr int64_t kBlockOfChannels = 16;

/// The use of PyTorch for what kernels take too long for: products, convolutions and attention.
enum class Library : uint8_t {
  None,          // what stands around it is fused without it
  Called,        // as the graph has it, but for biases that kernels add
  Measured,      // the same, with the fastest of cuDNN's algorithms for convolutions
  ChannelsLast,  // as Called, with pictures for convolutions that have the channels of each place beside each other
};

}  // namespace passnet::author
