// Kernels whose loads and stores go by neighbours along different loops, as a transpose does: neither order of the loops
// is good for both. They go through tiles instead, squares of both loops, that are read along one and written along the other.
#pragma once

#include <optional>
#include <vector>

#include "author/fuse/kernel.h"

namespace passnet::author {

/// Elements of a tile along each of its loops: on a CPU, and of a GPU's block, which has tiles of all loads. Large ones are for
/// elements of 2 bytes, small ones where there are few elements.
inline constexpr int64_t kTile = 32, kLargeTile = 64, kSmallTile = 16;
inline constexpr int64_t kBytesInLargeTile = 2;

struct Tile {
  Loop across, along;         // the loads go by neighbours along the first, the stores along the second, the lanes'
  std::vector<Loop> outer;    // the other items
  std::vector<ExprId> loads;  // that go so
  /// The first load reads short elements in some graph, and shared memory has room for large tiles of all loads there.
  bool may_be_large = false;
};

/// nullopt: it has rows or reductions, no such loads, or loops shorter than half a tile in all graphs.
std::optional<Tile> tile_of(Definitions& definitions, const FusedKernel& kernel);

}  // namespace passnet::author
