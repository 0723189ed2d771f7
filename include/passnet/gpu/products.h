// Products of matrices, and convolutions: a block computes a tile of sums, on tensor cores where the elements allow it.
#pragma once

#include <passnet/gpu/sums.h>

namespace passnet {

namespace detail {

template <class T, bool may_round>
struct Convolved {
  using type = T;
};
template <>
struct Convolved<float, true> {
  using type = tf32;
};

}  // namespace detail

/// What a convolution of T multiplies: floats as TF32 where PyTorch does so by default, as cuDNN chooses, which it nearly always
/// does for at least 64 channels and often does not for fewer.
template <class T, int64_t channels>
using convolved = typename detail::Convolved<T, (channels >= 64)>::type;

namespace detail {

template <int tile_columns>
inline constexpr int strip_pitch = tile_columns + 4;
template <int tile_columns>
inline constexpr int strip_size = 32 * strip_pitch<tile_columns>;

/// Stores 32 rows of sums, each the sum of its parts; a warp has some of the rows. is_whole: all of them are inside; then reads
/// for several sums are under way at once.
template <int tile_columns, int parts, bool is_whole, class Store>
PASSNET_INLINE void store_strip(const float* strip, int64_t first_row, int64_t first_column, int64_t rows,
                                int64_t columns, Store& store) {
  constexpr int warps = thread_count / warp_size;
#pragma unroll 2
  for (int below = thread_index() / warp_size; below < 32; below += warps) {
    const int64_t row = first_row + below;
    if (!is_whole && row >= rows) break;
    const auto put = store(row);
#pragma unroll
    for (int beside = 0; beside < tile_columns; beside += warp_size) {
      const int at = beside + thread_index() % warp_size;
      if (!is_whole && first_column + at >= columns) break;
      float sum = 0.0f;
#pragma unroll
      for (int part = 0; part < parts; ++part)
        sum += strip[part * strip_size<tile_columns> + below * strip_pitch<tile_columns> + at];
      put(first_column + at, sum);
    }
  }
}

}  // namespace detail

/// A tile of sums over `depth` steps: rows from `tile_row * tile_rows` on, columns likewise, of a result of `rows` x `columns`.
/// T: of all elements; those of 16 bits are multiplied on tensor cores, floats in full, and those that are to be tf32 as such.
/// store(row) gives a function of (column, sum), which is called for sums of that row that are inside the result: neighbouring
/// threads take neighbouring columns, and what is the same for a row is computed once for several of them. The sides of a tile
/// are 32, 64 or 128; all threads of the block take part: 128 of them, or 256 for a tile of 32 x 32, which pays where there are
/// few such tiles of many steps. For sm_80 and later.
template <class T, int tile_rows, int tile_columns, class Left, class Right, class Store>
PASSNET_INLINE void product_tile(int64_t tile_row, int64_t tile_column, int64_t rows, int64_t columns, int64_t depth,
                                 const Left& left, const Right& right, Store store) {
  static_assert((tile_rows == 32 || tile_rows == 64 || tile_rows == 128) &&
                    (tile_columns == 32 || tile_columns == 64 || tile_columns == 128),
                "a side of a tile is 32, 64 or 128");
  static_assert(thread_count == 128 || (thread_count == 256 && tile_rows * tile_columns == 32 * 32),
                "a tile has 128 threads, one of 32 x 32 may have 256");
  using Products = typename detail::ProductsOf<T, tile_rows, tile_columns>::type;
  using Element = typename detail::ElementOf<T>::type;
  enum : int { steps = Products::depth };
  auto of_rows = detail::reader_of<Element, Products, tile_rows>(left);
  auto of_columns = detail::reader_of<Element, Products, tile_columns>(right);
  constexpr bool left_along = decltype(of_rows)::along_depth, right_along = decltype(of_columns)::along_depth;
  constexpr int left_size = decltype(of_rows)::Stage::size, size = left_size + decltype(of_columns)::Stage::size;
  constexpr int most = 48 * 1024 / (size * int(sizeof(Element))), stages = most < 4 ? most : 4;
  static_assert(stages >= 3);
  __shared__ alignas(16) unsigned char room[stages * size * sizeof(Element)];
  Element* const elements = reinterpret_cast<Element*>(room);
  const int64_t first_row = tile_row * tile_rows, first_column = tile_column * tile_columns;

  // Elements are on their way to shared memory so many stages before they are multiplied; those that go by way of registers
  // leave for these `slots` stages earlier.
  constexpr int ahead = stages - 1, slots = Products::slots;
  const int end = int(depth);
  Products products;
  const auto fetch = [&](int slot, int number, Element* stage, bool held) {
    if (number * steps < end) {
      if (of_rows.holds == held) of_rows.fetch(slot, first_row, number * steps, rows, end, stage);
      if (of_columns.holds == held)
        of_columns.fetch(slot, first_column, number * steps, columns, end, stage + left_size);
    }
    if (!held) detail::close_group();
  };
  const auto settle = [&](int slot, int number, Element* stage) {
    if (number * steps >= end) return;
    of_rows.settle(slot, stage);
    of_columns.settle(slot, stage + left_size);
  };
#pragma unroll
  for (int i = 0; i < ahead; i += slots) {
#pragma unroll
    for (int slot = 0; slot < slots && i + slot < ahead; ++slot) {
      fetch(slot, i + slot, elements + (i + slot) * size, false);
      fetch(slot, i + slot, elements, true);
    }
#pragma unroll
    for (int slot = 0; slot < slots && i + slot < ahead; ++slot) settle(slot, i + slot, elements + (i + slot) * size);
  }
#pragma unroll
  for (int slot = 0; slot < slots; ++slot) fetch(slot, ahead + slot, elements, true);
  Element *stage = elements, *next = elements + ahead * size;
  const auto go_on = [&](Element*& at) { at = at == elements + ahead * size ? elements : at + size; };
#pragma unroll 1
  for (int from = 0; from * steps < end; from += slots) {
#pragma unroll
    for (int slot = 0; slot < slots; ++slot) {
      const int number = from + slot;
      if (number * steps >= end) break;
      detail::wait_for_all_but<stages - 2>();
      __syncthreads();
      // Later elements are on their way while these are multiplied.
      settle(slot, number + ahead, next);
      fetch(slot, number + ahead, next, false);
      fetch(slot, number + ahead + slots, elements, true);
      products.template add<left_along, right_along>(stage, stage + left_size, end - number * steps);
      go_on(stage);
      go_on(next);
    }
  }
  detail::wait_for_all_but<0>();
  __syncthreads();

  // By way of shared memory, strip by strip, so that neighbours are stored together.
  constexpr int strip_pitch = detail::strip_pitch<tile_columns>, strip_size = detail::strip_size<tile_columns>;
  static_assert(Products::parts * strip_size * sizeof(float) <= sizeof(room));
  float* const strip = reinterpret_cast<float*>(room);
#pragma unroll 1
  for (int first = 0; first < tile_rows; first += 32) {
    float* const own = strip + products.part() * strip_size;
    products.for_rows(first, [&](int row, int column, float sum) { own[row * strip_pitch + column] = sum; });
    __syncthreads();
    if (first_row + first + 32 <= rows && first_column + tile_columns <= columns)
      detail::store_strip<tile_columns, Products::parts, true>(strip, first_row + first, first_column, rows, columns,
                                                               store);
    else
      detail::store_strip<tile_columns, Products::parts, false>(strip, first_row + first, first_column, rows, columns,
                                                                store);
    __syncthreads();
  }
}

}  // namespace passnet
