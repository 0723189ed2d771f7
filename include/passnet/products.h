// Products of matrices: a task computes tiles of sums, of elements that it has converted to floats and laid side by side.
#pragma once

#include <passnet/dots.h>
#include <passnet/matrix_unit.h>
#include <passnet/product_operands.h>
#include <passnet/task.h>

namespace passnet {

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
constexpr int kTileDepth = 128;
// Sides of tiles are multiples of what either those registers or the matrix unit hold; one below kSmallSide is not cut.
constexpr int kRowStep = kHasMatrixUnit ? kLanes : kSumRows, kColumnStep = kSumVecs * kLanes, kSmallSide = 64;

/// Elements of a tile's operands over some steps: those of rows row by row, or step by step, those of columns step by step.
struct TileOperands {
  alignas(64) float rows[kTileRows * kTileDepth];
  alignas(64) float columns[kTileDepth * kStepPitch];
};

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
    read_rows(left, tile, begin, steps, kTileDepth, operands.rows);
    read_columns(right, tile, width, begin, steps, operands.columns);
    for (int64_t column = 0; column < tile.columns; column += kPart) {
      if (tile.columns - column > kLanes)
        add_strip<kSumVecs, step_by_step>(operands.rows, operands.columns + column, tile.rows, steps, sums + column);
      else
        add_strip<1, step_by_step>(operands.rows, operands.columns + column, tile.rows, steps, sums + column);
    }
  }
}

/// Adds them as they lie along depth, where one side is few.
template <class Left, class Right>
inline void add_few(Few few, const ProductTile& tile, int64_t depth, const Left& left, const Right& right,
                    float* sums) {
  const auto row_at = [&](int64_t row, int64_t k) __attribute__((always_inline)) {
    return left.at(tile.first_row + row, k);
  };
  const auto column_at = [&](int64_t column, int64_t k) __attribute__((always_inline)) {
    return right.at(tile.first_column + column, k);
  };
  if (few == Few::Rows)
    add_all_dots(tile.rows, row_at, tile.columns, column_at, depth, {sums, kTileColumns, 1});
  else
    add_all_dots(tile.columns, column_at, tile.rows, row_at, depth, {sums, 1, kTileColumns});
}

/// The sums of a tile, kTileColumns from row to row.
template <class Left, class Right>
inline void compute_sums(const ProductTile& tile, int64_t width, int64_t depth, const Left& left, const Right& right,
                         float* sums) {
  const Few few = lie_along_depth<Left, Right> ? few_of(tile.rows, tile.columns, depth) : Few::Neither;
#if defined(PASSNET_MATRIX_UNIT_)
  if (few == Few::Neither && has_matrix_unit() && compute_on_matrix_unit(tile, width, depth, left, right, sums)) return;
#endif
  clear_sums(tile.rows, sums);
  if constexpr (lie_along_depth<Left, Right>) {
    if (few != Few::Neither) return add_few(few, tile, depth, left, right, sums);
  }
  add_in_strips(tile, width, depth, left, right, sums);
}

/// How long parts of a side of n are, of which there are to be `parts`: a multiple of `step`, and up to `most`.
constexpr int64_t part_of(int64_t n, int64_t parts, int64_t step, int64_t most) {
  const int64_t part = ceil_div(ceil_div(n, parts), step) * step;
  return part < most ? part : most;
}

}  // namespace detail

inline ProductTiles product_tiles(int64_t n, int64_t rows, int64_t columns) {
  using namespace detail;
  int64_t below = ceil_div(rows, kTileRows), beside = ceil_div(columns, kTileColumns);
  const auto height = [&] { return part_of(rows, below, kRowStep, kTileRows); };
  const auto width = [&] { return part_of(columns, beside, kColumnStep, kTileColumns); };
  const int64_t enough = task_count() < 2 * thread_count() ? task_count() : 2 * thread_count();
  while (n * below * beside < enough) {
    if (height() < kSmallSide && width() < kSmallSide) break;
    (height() > width() ? below : beside) *= 2;
  }
  return {rows, columns, height(), width()};
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
  compute_sums(tile, width, depth, left, right, sums);
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
