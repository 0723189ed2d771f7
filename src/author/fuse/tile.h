// Kernels whose loads and stores go by neighbours along different loops, as a transpose does: neither order of the loops
// is good for both. They go through tiles instead, squares of both loops, that are read along one and written along the other.
#pragma once

#include <optional>
#include <vector>

#include "author/fuse/kernel.h"

namespace passnet::author {

/// Elements of a tile along each of its loops: on a CPU, and of a GPU's block, which has tiles of all loads, where these
/// and its shared memory are large enough.
inline constexpr int64_t kTile = 32, kLargeTile = 64;

struct Tile {
  Loop across, along;         // the loads go by neighbours along the first, the stores along the second, the lanes'
  std::vector<Loop> outer;    // the other items
  std::vector<ExprId> loads;  // that go so
  bool may_be_large = false;  // shared memory has room for large tiles of all of them
};

/// nullopt: it has rows or reductions, no such loads, or loops shorter than half a tile in all graphs.
std::optional<Tile> tile_of(Definitions& definitions, const FusedKernel& kernel);

}  // namespace passnet::author
