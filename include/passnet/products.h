// Products of matrices: a task computes tiles of sums, of elements that it has converted to floats and laid side by side.
#pragma once

#include <passnet/dots.h>
#include <passnet/task.h>
#include <passnet/vec.h>

namespace passnet {

/// Which way an operand of a product goes in memory by neighbours: along what is summed up, or across it.
enum class Neighbours { AlongDepth, AcrossDepth };

/// An operand that lies in memory: at(across, k) is the address of an element, where `across` is a row or a column of the result
/// and k a step of the sums, and its neighbours lie behind it.
template <Neighbours neighbours, class At>
struct InMemory {
  At at;
};
template <Neighbours neighbours, class At>
[[gnu::always_inline]] inline InMemory<neighbours, At> in_memory(At at) {
  return {at};
}

/// An operand whose elements are computed: for rows at(row, k) is one as a float, for columns at(run, i, lanes, k) is a vec of
/// those from i on of a run.
template <class At>
struct Computed {
  At at;
};
template <class At>
[[gnu::always_inline]] inline Computed<At> computed(At at) {
  return {at};
}

/// Some of the sums of a result.
struct ProductTile {
  int64_t first_row, rows, first_column, columns;
};

/// How each of n results of `rows` x `columns` is cut into tiles: as large as the caches of a processor hold, or smaller where
/// tasks would have none.
struct ProductTiles {
  int64_t rows, columns;
  int64_t height, width;  // of a tile at most

  int64_t below() const { return ceil_div(rows, height); }
  int64_t count() const { return below() * ceil_div(columns, width); }
  ProductTile operator[](int64_t number) const {
    const int64_t row = number % below() * height, column = number / below() * width;
    return {row, rows - row < height ? rows - row : height, column,
            columns - column < width ? columns - column : width};
  }
};

namespace detail {

// Sums that are held in registers: so many rows of so many vectors; and the rows of what is left.
#if defined(PASSNET_AVX512_)
constexpr int kSumRows = 12, kRestRows = 4, kSumVecs = 2;
#else
constexpr int kSumRows = 6, kRestRows = 2, kSumVecs = 1;
#endif
constexpr int kTileRows = 192, kTileColumns = 128, kTileDepth = 128;
// From one step of the columns to the next: a run of them is written 16 at a time, the last of which may lie behind the tile.
constexpr int kStepPitch = kTileColumns + kLanes;

/// Elements of a tile's operands over some steps: those of rows row by row, or step by step, those of columns step by step.
struct TileOperands {
  alignas(64) float rows[kTileRows * kTileDepth];
  alignas(64) float columns[kTileDepth * kStepPitch];
};

template <class T>
[[gnu::always_inline]] inline void widen_run(const T* x, int64_t n, float* out) {
  for_blocks(
      0, n, [&](int64_t i, int lanes) __attribute__((always_inline)) { store(out + i, load(x + i, lanes)); });
}

template <class Operand>
constexpr bool is_step_by_step = false;
template <class At>
constexpr bool is_step_by_step<InMemory<Neighbours::AcrossDepth, At>> = true;

template <class At>
inline void read_rows(const InMemory<Neighbours::AlongDepth, At>& left, const ProductTile& tile, int64_t begin,
                      int64_t steps, float* out) {
  for (int64_t row = 0; row < tile.rows; ++row)
    widen_run(left.at(tile.first_row + row, begin), steps, out + row * kTileDepth);
}
template <class At>
inline void read_rows(const InMemory<Neighbours::AcrossDepth, At>& left, const ProductTile& tile, int64_t begin,
                      int64_t steps, float* out) {
  for (int64_t k = 0; k < steps; ++k) widen_run(left.at(tile.first_row, begin + k), tile.rows, out + k * kTileRows);
}
template <class At>
inline void read_rows(const Computed<At>& left, const ProductTile& tile, int64_t begin, int64_t steps, float* out) {
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t k = 0; k < steps; ++k) out[row * kTileDepth + k] = left.at(tile.first_row + row, begin + k);
  }
}

/// Calls body(run, i, n, column) for each run of neighbours, of which there are `width` at most: n of them from i on, which are
/// columns of the tile from `column` on.
template <class Body>
[[gnu::always_inline]] inline void for_runs(const ProductTile& tile, int64_t width, Body body) {
  int64_t run = tile.first_column / width, i = tile.first_column % width;
  for (int64_t column = 0; column < tile.columns; ++run, i = 0) {
    const int64_t rest = tile.columns - column, n = width - i < rest ? width - i : rest;
    body(run, i, n, column);
    column += n;
  }
}

template <class At>
inline void read_columns(const Computed<At>& right, const ProductTile& tile, int64_t width, int64_t begin,
                         int64_t steps, float* out) {
  for_runs(
      tile, width, [&](int64_t run, int64_t i, int64_t n, int64_t column) __attribute__((always_inline)) {
        for (int64_t k = 0; k < steps; ++k) {
          float* const to = out + k * kStepPitch + column;
          for_blocks(
              0, n, [&](int64_t from, int lanes) __attribute__((always_inline)) {
                store(to + from, right.at(run, i + from, lanes, begin + k));
              });
        }
      });
}
/// Columns that lie apart are turned, as many at a time as a hardware vector holds.
template <class At>
inline void read_columns(const InMemory<Neighbours::AlongDepth, At>& right, const ProductTile& tile, int64_t,
                         int64_t begin, int64_t steps, float* out) {
  for (int64_t column = 0; column < tile.columns; column += kWidth) {
    for (int64_t k = 0; k < steps; k += kWidth) {
      const int there = static_cast<int>(steps - k < kWidth ? steps - k : kWidth);
      floats block[kWidth];
      for (int i = 0; i < kWidth; ++i) {
        const int64_t own = column + i < tile.columns ? column + i : tile.columns - 1;
        const auto* const from = right.at(tile.first_column + own, begin + k);
        block[i] = there == kWidth ? load_part(from) : load(from, there).part[0];
      }
      transpose(block);
      for (int i = 0; i < there; ++i) store_part(out + (k + i) * kStepPitch + column, block[i]);
    }
  }
}

/// Adds to rows x (vecs * 16) sums, which lie kTileColumns apart, what these steps come to.
template <int rows, int vecs, bool step_by_step>
inline void add_products(const float* left, const float* right, int64_t steps, float* sums) {
  vec total[rows][vecs];
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < vecs; ++v) total[r][v] = 0.0f;
  }
  for (int64_t k = 0; k < steps; ++k) {
    vec of_columns[vecs];
#pragma GCC unroll 2
    for (int v = 0; v < vecs; ++v) of_columns[v] = load(right + k * kStepPitch + v * kLanes);
#pragma GCC unroll 16
    for (int r = 0; r < rows; ++r) {
      const vec of_row = left[step_by_step ? k * kTileRows + r : r * kTileDepth + k];
#pragma GCC unroll 2
      for (int v = 0; v < vecs; ++v) total[r][v] = fma(of_row, of_columns[v], total[r][v]);
    }
  }
#pragma GCC unroll 16
  for (int r = 0; r < rows; ++r) {
#pragma GCC unroll 2
    for (int v = 0; v < vecs; ++v) {
      float* const sum = sums + r * kTileColumns + v * kLanes;
      store(sum, load(sum) + total[r][v]);
    }
  }
}

template <int vecs, bool step_by_step>
inline void add_strip(const float* left, const float* right, int64_t rows, int64_t steps, float* sums) {
  int64_t row = 0;
  const auto from = [&] { return left + (step_by_step ? row : row * kTileDepth); };
  for (; row + kSumRows <= rows; row += kSumRows)
    add_products<kSumRows, vecs, step_by_step>(from(), right, steps, sums + row * kTileColumns);
  for (; row < rows; row += kRestRows)
    add_products<kRestRows, vecs, step_by_step>(from(), right, steps, sums + row * kTileColumns);
}

/// Zeros where registers hold more rows or columns than the tile has, for up to so many steps.
inline void clear_edges(const ProductTile& tile, int64_t steps, TileOperands& operands) {
  constexpr int64_t kPart = kSumVecs * kLanes;
  const int64_t rows = ceil_div(tile.rows, kRestRows) * kRestRows;
  __builtin_memset(operands.rows + tile.rows * kTileDepth, 0, sizeof(float) * (rows - tile.rows) * kTileDepth);
  if (tile.columns % kPart == 0) return;
  const int64_t last = tile.columns / kPart * kPart;
  for (int64_t k = 0; k < steps; ++k)
    __builtin_memset(operands.columns + k * kStepPitch + last, 0, sizeof(float) * kPart);
}

/// Adds to the sums of a tile, with both operands laid side by side, what all steps come to.
template <class Left, class Right>
inline void add_in_strips(const ProductTile& tile, int64_t width, int64_t depth, const Left& left, const Right& right,
                          float* sums) {
  constexpr int64_t kPart = kSumVecs * kLanes;
  constexpr bool step_by_step = is_step_by_step<Left>;
  TileOperands operands;
  clear_edges(tile, depth < kTileDepth ? depth : kTileDepth, operands);
  for (int64_t begin = 0; begin < depth; begin += kTileDepth) {
    const int64_t steps = depth - begin < kTileDepth ? depth - begin : kTileDepth;
    read_rows(left, tile, begin, steps, operands.rows);
    read_columns(right, tile, width, begin, steps, operands.columns);
    for (int64_t column = 0; column < tile.columns; column += kPart) {
      if (tile.columns - column > kLanes)
        add_strip<kSumVecs, step_by_step>(operands.rows, operands.columns + column, tile.rows, steps, sums + column);
      else
        add_strip<1, step_by_step>(operands.rows, operands.columns + column, tile.rows, steps, sums + column);
    }
  }
}

/// The same, as they lie, where both lie along depth and one side is few; otherwise in strips.
template <class LeftAt, class RightAt>
inline void add_few_or_in_strips(const ProductTile& tile, int64_t width, int64_t depth,
                                 const InMemory<Neighbours::AlongDepth, LeftAt>& left,
                                 const InMemory<Neighbours::AlongDepth, RightAt>& right, float* sums) {
  const auto row_at = [&](int64_t row, int64_t k) __attribute__((always_inline)) {
    return left.at(tile.first_row + row, k);
  };
  const auto column_at = [&](int64_t column, int64_t k) __attribute__((always_inline)) {
    return right.at(tile.first_column + column, k);
  };
  switch (few_of(tile.rows, tile.columns, depth)) {
    case Few::Rows: return add_all_dots(tile.rows, row_at, tile.columns, column_at, depth, {sums, kTileColumns, 1});
    case Few::Columns: return add_all_dots(tile.columns, column_at, tile.rows, row_at, depth, {sums, 1, kTileColumns});
    case Few::Neither: return add_in_strips(tile, width, depth, left, right, sums);
  }
}

template <class Left, class Right>
constexpr bool lie_along_depth = false;
template <class LeftAt, class RightAt>
constexpr bool lie_along_depth<InMemory<Neighbours::AlongDepth, LeftAt>, InMemory<Neighbours::AlongDepth, RightAt>> =
    true;

/// How long parts of a side of n are, of which there are to be `parts`: a multiple of `step`, and up to `most`.
constexpr int64_t part_of(int64_t n, int64_t parts, int64_t step, int64_t most) {
  const int64_t part = ceil_div(ceil_div(n, parts), step) * step;
  return part < most ? part : most;
}

}  // namespace detail

inline ProductTiles product_tiles(int64_t n, int64_t rows, int64_t columns) {
  const int64_t strips = ceil_div(rows, detail::kSumRows);
  int64_t below = ceil_div(rows, detail::kTileRows);
  const int64_t beside = ceil_div(columns, detail::kTileColumns);
  while (n * below * beside < task_count() && 4 * below <= strips) below *= 2;
  return {rows, columns, ceil_div(strips, below) * detail::kSumRows, detail::kTileColumns};
}

/// The same of operands that both lie along depth: where one side is few, the other one is cut for as many tasks as there are.
inline ProductTiles product_tiles(int64_t n, int64_t rows, int64_t columns, int64_t depth) {
  using namespace detail;
  const int64_t parts = n > 0 ? ceil_div(task_count(), n) : 1;
  switch (few_of(rows, columns, depth)) {
    case Few::Rows: return {rows, columns, rows, part_of(columns, parts, kLanes, kTileColumns)};
    case Few::Columns: return {rows, columns, part_of(rows, parts, 4, kTileRows), columns};
    case Few::Neither: break;
  }
  return product_tiles(n, rows, columns);
}

/// The sums of a tile over `depth` steps: floats, added up in parts. The columns of the result are runs of `width` neighbours.
/// store(row, run, i, lanes, sums): of each row those from i on of a run, a vec.
template <class Left, class Right, class Store>
[[gnu::always_inline]] inline void product_tile(const ProductTile& tile, int64_t width, int64_t depth, const Left& left,
                                                const Right& right, Store store) {
  using namespace detail;
  alignas(64) float sums[kTileRows * kTileColumns];
  __builtin_memset(sums, 0, sizeof(float) * kTileColumns * ceil_div(tile.rows, kSumRows) * kSumRows);
  if constexpr (lie_along_depth<Left, Right>)
    add_few_or_in_strips(tile, width, depth, left, right, sums);
  else
    add_in_strips(tile, width, depth, left, right, sums);
  for (int64_t row = 0; row < tile.rows; ++row) {
    for_runs(
        tile, width, [&](int64_t run, int64_t i, int64_t n, int64_t column) __attribute__((always_inline)) {
          for_blocks(
              0, n, [&](int64_t from, int lanes) __attribute__((always_inline)) {
                store(tile.first_row + row, run, i + from, lanes,
                      load(sums + row * kTileColumns + column + from, lanes));
              });
        });
  }
}

}  // namespace passnet
