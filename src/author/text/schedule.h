// Rules by which plans launch their kernels for given shapes: each as C++, for what is said of a pass, and as the
// function of the plan itself. That both are one is tests/author/schedule_test.cpp.
#pragma once

#include <cstdint>
#include <string>

namespace passnet::author {

/// CUDA: threads that share a row, at most.
inline constexpr int64_t kMostThreads = 512;
/// CUDA: columns of a block whose threads share them, at least: so many neighbours are read together.
inline constexpr int64_t kFewestColumns = 16;

/// The numbers in these rules.
struct Schedule {
  /// GPU: threads that should have work before a row is left to a warp, or fewer than a block of it.
  int64_t row_threads = 65536;
  /// GPU: threads that should have work before one takes several elements, or blocks grow: half of what a large one holds.
  int64_t pack_threads = 131072;
  /// GPU: places one below the other that a thread takes at most, where their windows have rows in common.
  int64_t band = 4;
  /// GPU: processors of a large one.
  int64_t processors = 132;
  /// GPU: blocks that should have work before a row is left to one: two for each processor of a large one; 0: rows are
  /// never split.
  int64_t split_blocks = 264;
  /// GPU: elements of a row that a block has at least where several share it.
  int64_t split_share = 2048;
  /// CPU: tasks of a kernel at most, and steps that are worth one.
  int64_t tasks = 16;
  int64_t task_work = 8192;
  /// CPU: multiplications that are worth a task, of a product in tiles.
  int64_t task_products = 131072;
  /// Loads and stores along different loops go through tiles.
  bool tiles = true;
  bool operator==(const Schedule&) const = default;
};

/// Threads that share a row where there are so many rows of that width.
int64_t threads_of(const Schedule& schedule, int64_t rows, int64_t width);
/// Blocks of a GPU, or tasks of a CPU, that share a row. columns: neighbours in memory are of different rows, each of
/// which has a thread, or a lane.
int64_t parts_of(const Schedule& schedule, bool on_gpu, int64_t rows, int64_t width, bool columns);

/// Threads of a GPU's block that share a column, of so many columns of that height.
int64_t down_of(const Schedule& schedule, int64_t columns, int64_t height);

/// Places one below the other that a thread of a GPU takes, of columns of that height and n places.
int64_t band_of(const Schedule& schedule, int64_t n, int64_t height);

/// Rows and columns of the tile of sums that a block of a GPU has, or the blocks of a cluster, which share its steps.
struct ProductTile {
  int64_t rows = 0, columns = 0, cluster = 1;
  bool operator==(const ProductTile&) const = default;
};
/// Threads of such a block.
inline constexpr int64_t kThreadsOfTile = 128;
/// Returns the tile for n products of that many rows and columns, sums of `depth` steps.
ProductTile tile_of(const Schedule& schedule, int64_t n, int64_t rows, int64_t columns, int64_t depth);

/// def items_block(n, pack), def items_grid(x, n, work, pack, block)
std::string items_grid_text(const Schedule& schedule);
/// def tiles_grid(x, n, across, along)
std::string tiles_grid_text(const Schedule& schedule);
/// def side_of(extent), def tile_of(n, rows, columns, depth),
/// def products_grid(x, n, rows, columns, depth, tile_rows, tile_columns, cluster)
std::string products_grid_text(const Schedule& schedule);
/// def threads_of(rows, width), def block_of(rows, threads, beside), def rows_grid(x, rows, width, threads, block)
std::string rows_grid_text(const Schedule& schedule);
/// def pack_of(x, n, threads, steps)
std::string pack_of_text();
/// def band_of(x, n, height)
std::string band_of_text(const Schedule& schedule);
/// def down_of(x, columns, height)
std::string down_of_text(const Schedule& schedule);
/// def parts_of(x, rows, width, columns)
std::string parts_of_text(const Schedule& schedule);

}  // namespace passnet::author
