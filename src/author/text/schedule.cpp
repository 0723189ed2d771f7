#include "author/text/schedule.h"

#include <fmt/format.h>

#include <algorithm>

#include "author/fuse/tile.h"

namespace passnet::author {

namespace {

// GPU: threads of a row from which on more of them pay better than more elements for each: a block is waited for anyway.
constexpr int64_t kManyThreads = 128;
// CPU: lanes of columns that a task has at least.
constexpr int64_t kLanesOfTask = 64;
// GPU: threads that share a column at most, and steps that each has before there are more of them.
constexpr int64_t kMostDown = 32, kStepsOfThread = 4;
// GPU: large tiles that there must be for each multiprocessor.
constexpr int64_t kLargeTilesOfProcessor = 4;
// GPU: steps of a column that a block has at least.
constexpr int64_t kStepsOfShare = 64;
// Rows are not split into less, nor where they are shorter than so many shares: another launch has to pay.
constexpr int64_t kFewestParts = 4;
constexpr int64_t kShortestInShares = 16;
// GPU: sides of tiles of sums, and of those that several blocks share rather than that they become smaller.
constexpr int64_t kShortestSide = 32, kLongestSide = 128, kSharedSide = 64;
// GPU: blocks that share the steps of a tile at most, and steps that each then has at least.
constexpr int64_t kMostOfCluster = 8, kStepsOfBlock = 512;

int64_t tiles_along(int64_t extent, int64_t side) { return (extent + side - 1) / side; }
int64_t tiles_of(int64_t n, int64_t rows, int64_t columns, const ProductTile& tile) {
  return n * tiles_along(rows, tile.rows) * tiles_along(columns, tile.columns);
}

}  // namespace

int64_t threads_of(const Schedule& schedule, int64_t rows, int64_t width) {
  int64_t threads = 1;
  while (threads < 32 && threads < width) threads *= 2;
  const auto wants_more = [&] {
    return width > (threads < kManyThreads ? 32 : 16) * threads ||
           (width >= 16 * threads && rows * threads < schedule.row_threads);
  };
  while (threads >= 32 && threads < kMostThreads && wants_more()) threads *= 2;
  return threads;
}

int64_t parts_of(const Schedule& schedule, bool on_gpu, int64_t rows, int64_t width, bool columns) {
  const int64_t work = schedule.task_work / 2;
  int64_t wanted = on_gpu ? schedule.split_blocks : schedule.tasks, share = on_gpu ? schedule.split_share : work;
  if (columns) {
    wanted *= on_gpu ? kFewestColumns : kLanesOfTask;
    share = on_gpu ? kStepsOfShare : work / std::max<int64_t>(1, rows);
  }
  int64_t parts = 1;
  while (2 * parts * rows <= wanted && 2 * parts * std::max(share, 2 * parts) <= width) parts *= 2;
  return parts < kFewestParts || width < kShortestInShares * share ? 1 : parts;
}

int64_t down_of(const Schedule& schedule, int64_t columns, int64_t height) {
  int64_t down = 1;
  while (down < kMostDown && columns * down < schedule.row_threads && height >= kStepsOfThread * down) down *= 2;
  return down;
}

int64_t band_of(const Schedule& schedule, int64_t n, int64_t height) {
  int64_t band = schedule.band;
  while (band > 1 && (height < band || n < band * schedule.pack_threads)) band /= 2;
  return band;
}

ProductTile tile_of(const Schedule& schedule, int64_t n, int64_t rows, int64_t columns, int64_t depth) {
  const auto side_of = [&](int64_t extent) {
    int64_t side = kLongestSide;
    while (side > kShortestSide && 4 * tiles_along(extent, side) * side > 5 * extent) side /= 2;
    return side;
  };
  ProductTile tile{side_of(rows), side_of(columns)};
  int64_t most = 1;
  while (most < kMostOfCluster && depth >= 2 * most * kStepsOfBlock) most *= 2;
  const auto is_wide = [&] { return tile.rows * tile.columns > kSharedSide * kSharedSide; };
  while (tile.rows * tile.columns > kShortestSide * kShortestSide &&
         tiles_of(n, rows, columns, tile) * (is_wide() ? 1 : most) < schedule.processors)
    (tile.rows > tile.columns ? tile.rows : tile.columns) /= 2;
  while (tile.cluster < most && tiles_of(n, rows, columns, tile) * tile.cluster <= schedule.processors)
    tile.cluster *= 2;
  return tile;
}

std::string items_grid_text(const Schedule& schedule) {
  return fmt::format(R"(
def items_block(n, pack):
    # Threads of a GPU's block: fewer where much of a large GPU would have none.
    block = 256
    while block > 32 and n < {0} * block * pack:
        block //= 2
    return block


def items_grid(x, n, work, pack, block):
    # A thread for each `pack` of n items on a GPU; a task for every {1} steps of work on a CPU, at most {2}.
    return (triton.cdiv(n, block * pack),) if x.is_cuda else (min({2}, max(1, n * work // {1})),)

)",
                     schedule.processors, schedule.task_work, schedule.tasks);
}

std::string tiles_grid_text(const Schedule& schedule) {
  return fmt::format(R"(
def tile_side(most, n, across, along):
    # Elements along a side of the tile that a block of a GPU has: fewer where much of a large GPU would have none, and
    # {4} only where each of its multiprocessors has several, so that some read while others write.
    if most == {4} and n * triton.cdiv(across, {4}) * triton.cdiv(along, {4}) >= {5} * {3}:
        return {4}
    return {0} if n * triton.cdiv(across, {0}) * triton.cdiv(along, {0}) >= {3} else {6}


def tiles_grid(x, n, across, along, tile):
    # A block of a GPU for each tile of n planes; a task for every {1} elements on a CPU, at most {2}.
    if x.is_cuda:
        return (n * triton.cdiv(across, tile) * triton.cdiv(along, tile),)
    return (min({2}, max(1, n * across * along // {1})),)

)",
                     kTile, schedule.task_work, schedule.tasks, schedule.processors, kLargeTile, kLargeTilesOfProcessor,
                     kSmallTile);
}

std::string products_grid_text(const Schedule& schedule) {
  return fmt::format(R"(
def side_of(extent):
    # A side of the tile of sums that a block of a GPU has: the longest that leaves no more than a fifth of it empty.
    side = {2}
    while side > {1} and 4 * triton.cdiv(extent, side) * side > 5 * extent:
        side //= 2
    return side


def tile_of(n, rows, columns, depth):
    # Rows and columns of the tile, and how many blocks share its steps, each at least {6} of them: a smaller tile, and more
    # blocks, where much of a large GPU would have nothing to do.
    tile_rows, tile_columns, cluster, most = (side_of(rows), side_of(columns), 1, 1)
    while most < {7} and depth >= 2 * most * {6}:
        most *= 2
    tiles = n * triton.cdiv(rows, tile_rows) * triton.cdiv(columns, tile_columns)
    while tile_rows * tile_columns > {3} and tiles * (1 if tile_rows * tile_columns > {8} else most) < {0}:
        if tile_rows > tile_columns:
            tile_rows //= 2
        else:
            tile_columns //= 2
        tiles = n * triton.cdiv(rows, tile_rows) * triton.cdiv(columns, tile_columns)
    while cluster < most and tiles * cluster <= {0}:
        cluster *= 2
    return (tile_rows, tile_columns, cluster)


def products_grid(x, n, rows, columns, depth, tile_rows, tile_columns, cluster):
    # The blocks of a GPU for each tile of n products; a task for every {4} multiplications on a CPU, at most {5}.
    if x.is_cuda:
        return (n * triton.cdiv(rows, tile_rows) * triton.cdiv(columns, tile_columns) * cluster,)
    return (min({5}, max(1, n * rows * columns * depth // {4})),)

)",
                     schedule.processors, kShortestSide, kLongestSide, kShortestSide * kShortestSide,
                     schedule.task_products, schedule.tasks, kStepsOfBlock, kMostOfCluster, kSharedSide * kSharedSide);
}

std::string rows_grid_text(const Schedule& schedule) {
  return fmt::format(R"(
def threads_of(rows, width):
    # Threads of a GPU that share a row: no more than it has elements; more than a warp where rows are long, of which a
    # thread then holds fewer, or so few that much of a large GPU would have nothing to do.
    threads = min(32, triton.next_power_of_2(max(1, width)))
    while 32 <= threads < {3} and (width > (32 if threads < {5} else 16) * threads or (width >= 16 * threads and rows * threads < {0})):
        threads *= 2
    return threads


def block_of(rows, threads, beside):
    # Threads of a block: those of one row, or of as many rows as four warps have room for; sixteen warps where neighbours
    # in memory are of rows beside each other, which then find in the cache what the others read, and rows are many.
    if threads > 32:
        return threads
    return {3} if beside and rows * threads >= {4} else 128


def rows_grid(x, rows, width, threads, block):
    # As many rows as a block has threads for; a task for every {1} elements on a CPU, at most {2}.
    return (triton.cdiv(rows, block // threads),) if x.is_cuda else (min({2}, rows, max(1, rows * width // {1})),)

)",
                     schedule.row_threads, schedule.task_work, schedule.tasks, kMostThreads, schedule.pack_threads,
                     kManyThreads);
}

std::string pack_of_text() {
  return R"(
def pack_of(x, n, threads, steps):
    # Neighbouring elements that a thread of a GPU takes at once: what 16 bytes hold, where all begin at multiples of
    # that, and where so many threads still have work.
    pack = 16 // x.element_size() if x.is_cuda else 1
    while pack > 1 and n < pack * threads:
        pack //= 2
    for step in steps:
        while step % pack != 0:
            pack //= 2
    return pack

)";
}

std::string band_of_text(const Schedule& schedule) {
  return fmt::format(R"(
def band_of(x, n, height):
    # Places one below the other that a thread of a GPU takes, as their windows have rows in common: where columns are so
    # high, and so many threads still have work.
    band = {} if x.is_cuda else 1
    while band > 1 and (height < band or n < band * {}):
        band //= 2
    return band

)",
                     schedule.band, schedule.pack_threads);
}

std::string down_of_text(const Schedule& schedule) {
  return fmt::format(R"(
def down_of(x, columns, height):
    # Threads of a GPU's block that share a column: several where columns are so few that much of a large GPU would have
    # nothing to do, and high enough that each has some of it.
    down = 1
    while x.is_cuda and down < {0} and columns * down < {1} and height >= {2} * down:
        down *= 2
    return down

)",
                     kMostDown, schedule.row_threads, kStepsOfThread);
}

std::string parts_of_text(const Schedule& schedule) {
  return fmt::format(R"(
def parts_of(x, rows, width, columns):
    # Blocks of a GPU, or tasks of a CPU, that share a row (columns: neighbours in memory are of different rows, each of
    # which has a thread, or a lane): several where rows are long and so few that much of the machine would have nothing
    # to do, and enough to make up for another launch.
    wanted, share = ({0}, {1}) if x.is_cuda else ({2}, {3})
    if columns:
        wanted, share = ({4}, {5}) if x.is_cuda else ({6}, {3} // max(1, rows))
    parts = 1
    while 2 * parts * rows <= wanted and 2 * parts * max(share, 2 * parts) <= width:
        parts *= 2
    return parts if parts >= {7} and width >= {8} * share else 1

)",
                     schedule.split_blocks, schedule.split_share, schedule.tasks, schedule.task_work / 2,
                     schedule.split_blocks * kFewestColumns, kStepsOfShare, schedule.tasks * kLanesOfTask, kFewestParts,
                     kShortestInShares);
}

}  // namespace passnet::author
