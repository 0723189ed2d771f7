// The text of a launch: its grid, and what the kernel is given.
#pragma once

#include <map>
#include <string>

#include "author/define/definitions.h"
#include "author/text/plan/named_kernel.h"

namespace passnet::author {

/// A tensor of that type: as PyTorch lays it out.
std::string allocation(Definitions& definitions, TensorId id);
/// "pack_of(x, rows * width, PACK_THREADS, (width, x.storage_offset()))"; stored: what the kernel stores; threads: that should have
/// work; n: what they share; tile: the side of the tile that threads of a block move; empty: there is none.
std::string pack_text(Definitions& definitions, const Packing& packing, const std::vector<TensorId>& stored,
                      const std::string& n, const std::string& threads, const std::string& tile = "");
/// Tells whether each thread has items, not a row, and no block a tile.
bool goes_by_items(const NamedKernel& kernel);

/// Names of the plan for the numbers that a launch goes by; empty: there is none.
struct LaunchNames {
  std::string pack, band, threads, down, block, parts, tile, tile_rows, tile_columns, cluster;
  std::map<TensorId, std::string> shares;  // partial results, by reduction
};

/// a * b, where a may be a sum.
std::string product_text(const std::string& a, const std::string& b);
/// Rounded down; where a may be a product or a sum.
std::string quotient_text(const std::string& a, const std::string& b);
/// How many threads share a row: no more than PyTorch's kernel has where the order of its sums is that one's.
std::string threads_of_row(SizeTable& sizes, const NamedKernel& kernel);
/// How many threads there are: one for each item or band of them, "batch * width * triton.cdiv(height, band)", or as many as
/// share it, "batch * width * down".
std::string threads_text(SizeTable& sizes, const NamedKernel& kernel, const LaunchNames& names);
/// "64 if x.element_size() <= 2 else 32": elements along the side of a tile at most.
std::string longest_side_text(Definitions& definitions, const Tile& tile);
/// "n, across, along" of a tile: how many planes of that many elements there are.
std::string extents_text(SizeTable& sizes, const Tile& tile);
/// "n, rows, columns" of a product.
std::string extents_text(SizeTable& sizes, const Product& product);

/// "name[grid, block](arguments)". device_of: the tensor whose device decides; names: of the numbers of this launch.
std::string launch_text(Definitions& definitions, const NamedKernel& kernel, const std::string& device_of,
                        const LaunchNames& names);
/// One of the kernels of a split row.
std::string split_launch_text(Definitions& definitions, const NamedKernel& kernel, const NamedKernel& whole,
                              const std::string& device_of, const LaunchNames& names);

}  // namespace passnet::author
