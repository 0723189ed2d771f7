#include "author/text/schedule.h"

#include <fmt/format.h>

#include <memory>
#include <variant>

#include "author/fuse/tile.h"
#include "base/check.h"
#include "pass/plan/parser.h"
#include "pass/plan/plan.h"

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

}  // namespace

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

std::vector<int64_t> evaluate_rules(const Schedule& schedule, const std::string& numbers, bool on_gpu) {
  const std::string text = fmt::format(
      "import triton\n{}\n\ndef replacement_args(x):\n    return (x,)\n\n\ndef plan(x):\n    rules[(1,)](x, {})\n    "
      "return x\n\n\ndef replacement_func():\n    return plan\n",
      items_grid_text(schedule) + products_grid_text(schedule) + tiles_grid_text(schedule) + rows_grid_text(schedule) +
          pack_of_text() + band_of_text(schedule) + down_of_text(schedule) + parts_of_text(schedule),
      numbers);
  const auto evaluated = [&]() -> Result<std::variant<pass::PlanResult, pass::Declined>> {
    PASSNET_TRY(auto file, pass::parse_pass_file("rules", std::make_shared<const std::string>(text)));
    Budget steps(pass::kLoading);
    PASSNET_TRY(const pass::Plan plan, pass::make_plan({file}, {}, steps));
    return pass::evaluate_plan(plan, "rules", {ir::contiguous(ir::DType::Float16, {1})}, 1, {on_gpu});
  }();
  PASSNET_CHECK(evaluated, evaluated.error().message);
  std::vector<int64_t> found;
  for (const auto& argument : std::get<pass::PlanResult>(*evaluated).list.launches.at(0).args) {
    if (const auto* number = std::get_if<int64_t>(&argument)) found.push_back(*number);
  }
  return found;
}

}  // namespace passnet::author
