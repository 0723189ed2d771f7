#include "author/text/plan/schedule.h"

#include <fmt/format.h>

#include <memory>
#include <tuple>
#include <variant>

#include "author/fuse/tile.h"
#include "author/text/operations.h"
#include "base/check.h"
#include "pass/plan/plan.h"
#include "pass/plan/syntax/parser.h"

namespace passnet::author {

namespace {

// CPU: lanes of columns that a task has at least.
constexpr int64_t kLanesOfTask = 64;
// Threads of a block that has a tile, and of PyTorch's kernel that share a row.
constexpr int64_t kThreadsOfTurn = 256, kThreadsOfLayerNorm = 128;

// In the order of Rule.
constexpr std::string_view kRules[] = {
    R"(
def items_block(n, pack):
    # Threads of a GPU's block: fewer where much of a large GPU would have none.
    block = 256
    while block > WARP and n < PROCESSORS * block * pack:
        block //= 2
    return block


def items_grid(x, n, work, pack, block):
    # A thread for each `pack` of n items on a GPU; a task for every TASK_WORK steps of work on a CPU, at most TASKS.
    return (triton.cdiv(n, block * pack),) if x.is_cuda else (min(TASKS, max(1, n * work // TASK_WORK)),)

)",
    R"(
def side_of(extent):
    # A side of the tile of sums that a block of a GPU has: the longest that leaves no more than a fifth of it empty.
    side = 128
    while side > 32 and 4 * triton.cdiv(extent, side) * side > 5 * extent:
        side //= 2
    return side


def tile_of(n, rows, columns, depth):
    # Rows and columns of the tile, and how many blocks share its steps, each at least 512 of them: a smaller tile, and more
    # blocks, where much of a large GPU would have nothing to do.
    tile_rows, tile_columns, cluster, most = (side_of(rows), side_of(columns), 1, 1)
    while most < 8 and depth >= 2 * most * 512:
        most *= 2
    tiles = n * triton.cdiv(rows, tile_rows) * triton.cdiv(columns, tile_columns)
    while tile_rows * tile_columns > 1024 and tiles * (1 if tile_rows * tile_columns > 4096 else most) < PROCESSORS:
        if tile_rows > tile_columns:
            tile_rows //= 2
        else:
            tile_columns //= 2
        tiles = n * triton.cdiv(rows, tile_rows) * triton.cdiv(columns, tile_columns)
    while cluster < most and tiles * cluster <= PROCESSORS:
        cluster *= 2
    return (tile_rows, tile_columns, cluster)


def products_grid(x, n, rows, columns, depth, tile_rows, tile_columns, cluster):
    # The blocks of a GPU for each tile of n products; a task for every TASK_PRODUCTS multiplications on a CPU, at most TASKS.
    if x.is_cuda:
        return (n * triton.cdiv(rows, tile_rows) * triton.cdiv(columns, tile_columns) * cluster,)
    return (min(TASKS, max(1, n * rows * columns * depth // TASK_PRODUCTS)),)

)",
    R"(
def tile_side(most, n, across, along):
    # Elements along a side of the tile that a block of a GPU has: fewer where much of a large GPU would have none, and
    # LARGE_TILE only where each of its multiprocessors has several, so that some read while others write.
    if most == LARGE_TILE and n * triton.cdiv(across, LARGE_TILE) * triton.cdiv(along, LARGE_TILE) >= 4 * PROCESSORS:
        return LARGE_TILE
    return TILE if n * triton.cdiv(across, TILE) * triton.cdiv(along, TILE) >= PROCESSORS else SMALL_TILE


def tiles_grid(x, n, across, along, tile):
    # A block of a GPU for each tile of n planes; a task for every TASK_WORK elements on a CPU, at most TASKS.
    if x.is_cuda:
        return (n * triton.cdiv(across, tile) * triton.cdiv(along, tile),)
    return (min(TASKS, max(1, n * across * along // TASK_WORK)),)

)",
    R"(
def threads_of(rows, width):
    # Threads of a GPU that share a row: no more than it has elements; more than a warp where rows are long, of which a
    # thread then holds fewer, or so few that much of a large GPU would have nothing to do.
    threads = min(WARP, triton.next_power_of_2(max(1, width)))
    while WARP <= threads < MOST_THREADS and (width > (32 if threads < 128 else 16) * threads or (width >= 16 * threads and rows * threads < ROW_THREADS)):
        threads *= 2
    return threads


def block_of(rows, threads, beside):
    # Threads of a block: those of one row, or of as many rows as four warps have room for; sixteen warps where neighbours
    # in memory are of rows beside each other, which then find in the cache what the others read, and rows are many.
    if threads > WARP:
        return threads
    return 16 * WARP if beside and rows * threads >= PACK_THREADS else 4 * WARP


def rows_grid(x, rows, width, threads, block):
    # Blocks of as many rows as they have threads for; a task for every TASK_WORK elements on a CPU, at most TASKS.
    return (triton.cdiv(rows, block // threads),) if x.is_cuda else (min(TASKS, rows, max(1, rows * width // TASK_WORK)),)

)",
    R"(
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

)",
    R"(
def band_of(x, n, height):
    # Places one below the other that a thread of a GPU takes, as their windows have rows in common: where columns are so
    # high, and so many threads still have work.
    band = BAND if x.is_cuda else 1
    while band > 1 and (height < band or n < band * PACK_THREADS):
        band //= 2
    return band

)",
    R"(
def down_of(x, columns, height):
    # Threads of a GPU's block that share a column: several where columns are so few that much of a large GPU would have
    # nothing to do, and high enough that each has some of it.
    down = 1
    while x.is_cuda and down < 32 and columns * down < ROW_THREADS and height >= 4 * down:
        down *= 2
    return down

)",
    R"(
def parts_of(x, rows, width, columns):
    # Blocks of a GPU, or tasks of a CPU, that share a row (columns: neighbours in memory are of different rows, each of
    # which has a thread, or a lane): several where rows are long and so few that much of the machine would have nothing
    # to do, and enough to make up for another launch.
    wanted, share = (SPLIT_BLOCKS, SPLIT_SHARE) if x.is_cuda else (TASKS, TASK_WORK // 2)
    if columns:
        wanted, share = (FEWEST_COLUMNS * SPLIT_BLOCKS, 64) if x.is_cuda else (TASKS * LANES_OF_TASK, TASK_WORK // 2 // max(1, rows))
    parts = 1
    while 2 * parts * rows <= wanted and 2 * parts * max(share, 2 * parts) <= width:
        parts *= 2
    return parts if parts >= 4 and width >= 16 * share else 1

)",
};

}  // namespace

std::string_view rule_text(Rule rule) { return kRules[static_cast<size_t>(rule)]; }

std::string constants_of(const std::string& text, const Schedule& schedule) {
  const std::tuple<std::string_view, int64_t, std::string_view> constants[] = {
      {"WARP", kWarp, "GPU: threads of a warp"},
      {"MOST_THREADS", kMostThreads, "GPU: threads that share a row, at most"},
      {"LAYER_NORM_THREADS", kThreadsOfLayerNorm, "GPU: threads that share a row in PyTorch's layer_norm"},
      {"PRODUCT_THREADS", kThreadsOfTile, "GPU: threads of a block that has a tile of sums"},
      {"PROCESSORS", schedule.processors, "GPU: multiprocessors of a large one"},
      {"ROW_THREADS", schedule.row_threads, "GPU: threads that should have work before a row is left to a warp"},
      {"PACK_THREADS", schedule.pack_threads, "GPU: threads that should have work before one takes several elements"},
      {"BAND", schedule.band, "GPU: places one below the other that a thread takes at most"},
      {"SPLIT_BLOCKS", schedule.split_blocks, "GPU: blocks that should have work before a row is left to one"},
      {"SPLIT_SHARE", schedule.split_share, "GPU: elements of a row that a block has at least where several share it"},
      {"FEWEST_COLUMNS", kFewestColumns, "GPU: columns of a block whose threads share them, at least"},
      {"TILE", kTile, "GPU: elements along a side of a tile"},
      {"LARGE_TILE", kLargeTile, "GPU: the same where there are many tiles"},
      {"SMALL_TILE", kSmallTile, "GPU: the same where there are few"},
      {"TILE_THREADS", kThreadsOfTurn, "GPU: threads of a block that has a tile"},
      {"TASKS", schedule.tasks, "CPU: tasks of a kernel at most"},
      {"TASK_WORK", schedule.task_work, "CPU: steps that are worth a task"},
      {"TASK_PRODUCTS", schedule.task_products, "CPU: multiplications that are worth a task"},
      {"LANES_OF_TASK", kLanesOfTask, "CPU: lanes of columns that a task has at least"}};
  std::string lines;
  for (const auto& [name, value, meaning] : constants) {
    if (has_word(text, std::string(name))) lines += fmt::format("{} = {}  # {}\n", name, value, meaning);
  }
  return lines;
}

std::vector<int64_t> evaluate_rules(const Schedule& schedule, const std::string& numbers, bool on_gpu) {
  std::string rules;
  for (const Rule rule : kAllRules) rules += rule_text(rule);
  const std::string text = fmt::format(
      "import triton\n\n{}\n{}\n\ndef replacement_args(x):\n    return (x,)\n\n\ndef plan(x):\n    rules[(1,)](x, "
      "{})\n    "
      "return x\n\n\ndef replacement_func():\n    return plan\n",
      constants_of(rules, schedule), rules, numbers);
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
