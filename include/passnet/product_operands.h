// What a product multiplies: operands that lie in memory or are computed, and how elements of them are read as floats.
#pragma once

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
/// those from i on of a run. T: a type that holds each of them as it is.
template <class T, class At>
struct Computed {
  At at;
};
template <class T = float, class At>
[[gnu::always_inline]] inline Computed<T, At> computed(At at) {
  return {at};
}

/// Some of the sums of a result.
struct ProductTile {
  int64_t first_row, rows, first_column, columns;
};

namespace detail {

constexpr int kTileRows = kHasMatrixUnit ? 256 : 192, kTileColumns = kHasMatrixUnit ? 256 : 128;
// From one step of the columns to the next: a run of them is written 16 at a time, the last of which may lie behind the tile.
constexpr int kStepPitch = kTileColumns + kLanes;

/// Sets the sums of some rows of a tile to 0, which lie kTileColumns apart, and those behind them that are computed along.
inline void clear_sums(int64_t rows, float* sums) {
  static_assert(kTileRows % kLanes == 0);
  __builtin_memset(sums, 0, sizeof(float) * kTileColumns * ceil_div(rows, kLanes) * kLanes);
}

template <class T>
[[gnu::always_inline]] inline void widen_run(const T* x, int64_t n, float* out) {
  for_blocks(
      0, n, [&](int64_t i, int lanes) __attribute__((always_inline)) { store(out + i, load(x + i, lanes)); });
}

template <class Operand>
constexpr bool is_step_by_step = false;
template <class At>
constexpr bool is_step_by_step<InMemory<Neighbours::AcrossDepth, At>> = true;

template <class Left, class Right>
constexpr bool lie_along_depth = false;
template <class LeftAt, class RightAt>
constexpr bool lie_along_depth<InMemory<Neighbours::AlongDepth, LeftAt>, InMemory<Neighbours::AlongDepth, RightAt>> =
    true;

/// Reads some steps of a tile's rows: row by row, which lie `pitch` apart, or step by step, which lie kTileRows apart.
template <class At>
inline void read_rows(const InMemory<Neighbours::AlongDepth, At>& left, const ProductTile& tile, int64_t begin,
                      int64_t steps, int64_t pitch, float* out) {
  for (int64_t row = 0; row < tile.rows; ++row)
    widen_run(left.at(tile.first_row + row, begin), steps, out + row * pitch);
}
template <class At>
inline void read_rows(const InMemory<Neighbours::AcrossDepth, At>& left, const ProductTile& tile, int64_t begin,
                      int64_t steps, int64_t, float* out) {
  for (int64_t k = 0; k < steps; ++k) widen_run(left.at(tile.first_row, begin + k), tile.rows, out + k * kTileRows);
}
template <class T, class At>
inline void read_rows(const Computed<T, At>& left, const ProductTile& tile, int64_t begin, int64_t steps, int64_t pitch,
                      float* out) {
  for (int64_t row = 0; row < tile.rows; ++row) {
    for (int64_t k = 0; k < steps; ++k) out[row * pitch + k] = left.at(tile.first_row + row, begin + k);
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

/// Reads some steps of a tile's columns, step by step, which lie kStepPitch apart.
template <class T, class At>
inline void read_columns(const Computed<T, At>& right, const ProductTile& tile, int64_t width, int64_t begin,
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

}  // namespace detail
}  // namespace passnet
