// Which products of many steps kernels compute in tiles of sums.
#pragma once

#include <cstdint>

namespace passnet::author {

enum class InTiles : uint8_t {
  None,
  OnGpu,  // but for convolutions whose windows overlap or hang over an edge, which libraries are faster at
  OnCpu,
};

}  // namespace passnet::author
