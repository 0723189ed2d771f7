// The choice whether plans call PyTorch for what kernels take too long for: products, convolutions and attention.
#pragma once

#include <cstdint>

namespace passnet::author {

enum class Library : uint8_t {
  None,          // what stands around it is fused without it
  Called,        // as the graph has it, but for biases that kernels add
  Measured,      // the same, with the fastest of cuDNN's algorithms for convolutions
  ChannelsLast,  // as Called, with pictures for convolutions that have the channels of each place beside each other
};

}  // namespace passnet::author
