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

/// is_whole: all rows and columns are inside; then reads for several sums are under way at once.
template <int tile_columns, int count, bool is_whole, class SumAt, class Store>
PASSNET_INLINE void store_rows(int from, int64_t first_row, int64_t first_column, int64_t rows, int64_t columns,
                               SumAt sum_at, Store& store) {
  constexpr int warps = thread_count / warp_size;
#pragma unroll 2
  for (int below = from + thread_index() / warp_size; below < from + count; below += warps) {
    const int64_t row = first_row + below;
    if (!is_whole && row >= rows) break;
    const auto put = store(row);
#pragma unroll
    for (int beside = 0; beside < tile_columns; beside += warp_size) {
      const int at = beside + thread_index() % warp_size;
      if (!is_whole && first_column + at >= columns) break;
      put(first_column + at, sum_at(below, at));
    }
  }
}

/// Stores rows [from, from + count) of a strip of 32: sum_at(row, column) is one of its sums; a warp has some of the rows.
template <int tile_columns, int count, class SumAt, class Store>
PASSNET_INLINE void store_strip(int from, int64_t first_row, int64_t first_column, int64_t rows, int64_t columns,
                                SumAt sum_at, Store& store) {
  if (first_row + 32 <= rows && first_column + tile_columns <= columns)
    store_rows<tile_columns, count, true>(from, first_row, first_column, rows, columns, sum_at, store);
  else
    store_rows<tile_columns, count, false>(from, first_row, first_column, rows, columns, sum_at, store);
}

/// Adds the products of steps [begin, end) up, by way of `elements`, which has room for so many stages.
template <int stages, class Products, class Rows, class Columns, class Element>
PASSNET_INLINE void add_products(Products& products, Rows& of_rows, Columns& of_columns, Element* elements,
                                 int64_t first_row, int64_t first_column, int64_t rows, int64_t columns, int begin,
                                 int end) {
  enum : int { steps = Products::depth };
  constexpr bool left_along = Rows::along_depth, right_along = Columns::along_depth;
  constexpr int left_size = Rows::Stage::size, size = left_size + Columns::Stage::size;
  // Elements are on their way to shared memory so many stages before they are multiplied; those that go by way of registers
  // leave for these `slots` stages earlier.
  constexpr int ahead = stages - 1, slots = Products::slots;
  const auto fetch = [&](int slot, int number, Element* stage, bool held) {
    const int step = begin + number * steps;
    if (step < end) {
      if (of_rows.holds == held) of_rows.fetch(slot, first_row, step, rows, end, stage);
      if (of_columns.holds == held) of_columns.fetch(slot, first_column, step, columns, end, stage + left_size);
    }
    if (!held) close_group();
  };
  const auto settle = [&](int slot, int number, Element* stage) {
    if (begin + number * steps >= end) return;
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
  for (int from = 0; begin + from * steps < end; from += slots) {
#pragma unroll
    for (int slot = 0; slot < slots; ++slot) {
      const int number = from + slot;
      if (begin + number * steps >= end) break;
      wait_for_all_but<stages - 2>();
      __syncthreads();
      // Later elements are on their way while these are multiplied.
      settle(slot, number + ahead, next);
      fetch(slot, number + ahead, next, false);
      fetch(slot, number + ahead + slots, elements, true);
      products.template add<left_along, right_along>(stage, stage + left_size, end - begin - number * steps);
      go_on(stage);
      go_on(next);
    }
  }
  wait_for_all_but<0>();
  __syncthreads();
}

/// Stores a tile by way of shared memory, strip by strip, so that neighbours are stored together. strip: that memory, a strip for
/// each part of the sums. blocks: of the cluster, which add up their sums and share the rows.
template <int tile_rows, int tile_columns, int blocks, class Products, class Store>
PASSNET_INLINE void store_tile(const Products& products, float* strip, int64_t first_row, int64_t first_column,
                               int64_t rows, int64_t columns, Store& store) {
  constexpr int pitch = tile_columns + 4, strip_size = 32 * pitch;
  const auto of_parts = [=](int row, int column) {
    float sum = 0.0f;
#pragma unroll
    for (int part = 0; part < Products::parts; ++part) sum += strip[part * strip_size + row * pitch + column];
    return sum;
  };
  const auto of_blocks = [=](int row, int column) {
    float sum = 0.0f;
#pragma unroll
    for (int block = 0; block < blocks; ++block) sum += cluster_load(strip + row * pitch + column, block);
    return sum;
  };
#pragma unroll 1
  for (int first = 0; first < tile_rows; first += 32) {
    float* const own = strip + products.part() * strip_size;
    products.for_rows(first, [&](int row, int column, float sum) { own[row * pitch + column] = sum; });
    __syncthreads();
    if constexpr (blocks == 1) {
      store_strip<tile_columns, 32>(0, first_row + first, first_column, rows, columns, of_parts, store);
      __syncthreads();
    } else {
      if constexpr (Products::parts > 1) {
#pragma unroll
        for (int i = thread_index(); i < 32 * tile_columns; i += thread_count)
          strip[i / tile_columns * pitch + i % tile_columns] = of_parts(i / tile_columns, i % tile_columns);
      }
      cluster_barrier();
      constexpr int share = 32 / blocks;
      store_strip<tile_columns, share>(cluster_rank<blocks>() * share, first_row + first, first_column, rows, columns,
                                       of_blocks, store);
      cluster_barrier();  // the others have read it
    }
  }
}

}  // namespace detail

/// A tile of sums over `depth` steps: rows from `tile_row * tile_rows` on, columns likewise, of a result of `rows` x `columns`.
/// T: of all elements; those of 16 bits are multiplied on tensor cores, floats in full, and those that are to be tf32 as such.
/// store(row) gives a function of (column, sum), which is called for sums of that row that are inside the result: neighbouring
/// threads take neighbouring columns, and what is the same for a row is computed once for several of them. The sides of a tile
/// are 32, 64 or 128; all 128 threads of the block take part. cluster: blocks that call this for the same tile, each of which
/// adds up some of the steps and stores some of the rows, where there are few tiles of many steps: those of a cluster
/// (passnet/gpu/threads.h). For sm_80 and later; before sm_90 the first block of a cluster does it all.
template <class T, int tile_rows, int tile_columns, int cluster = 1, class Left, class Right, class Store>
PASSNET_INLINE void product_tile(int64_t tile_row, int64_t tile_column, int64_t rows, int64_t columns, int64_t depth,
                                 const Left& left, const Right& right, Store store) {
  static_assert((tile_rows == 32 || tile_rows == 64 || tile_rows == 128) &&
                    (tile_columns == 32 || tile_columns == 64 || tile_columns == 128),
                "a side of a tile is 32, 64 or 128");
  static_assert(thread_count == 128, "a tile has 128 threads");
  using Products = typename detail::ProductsOf<T, tile_rows, tile_columns>::type;
  using Element = typename detail::ElementOf<T>::type;
  enum : int { steps = Products::depth };
  auto of_rows = detail::reader_of<Element, Products, tile_rows>(left);
  auto of_columns = detail::reader_of<Element, Products, tile_columns>(right);
  constexpr int size = decltype(of_rows)::Stage::size + decltype(of_columns)::Stage::size;
  constexpr int most = 48 * 1024 / (size * int(sizeof(Element))), stages = most < 4 ? most : 4;
  static_assert(stages >= 3);
  __shared__ alignas(16) unsigned char room[stages * size * sizeof(Element)];
  Element* const elements = reinterpret_cast<Element*>(room);
  const int64_t first_row = tile_row * tile_rows, first_column = tile_column * tile_columns;

  constexpr int blocks = detail::has_clusters ? cluster : 1;  // that share the steps
  if (blocks < cluster && cluster_rank<cluster>() > 0) return;
  const int of_block = ceil_div(ceil_div(int(depth), int(steps)), blocks) * steps;
  const int begin = cluster_rank<blocks>() * of_block,
            end = begin + of_block < int(depth) ? begin + of_block : int(depth);
  Products products;
  detail::add_products<stages>(products, of_rows, of_columns, elements, first_row, first_column, rows, columns, begin,
                               end);
  static_assert(Products::parts * 32 * (tile_columns + 4) * sizeof(float) <= sizeof(room));
  detail::store_tile<tile_rows, tile_columns, blocks>(products, reinterpret_cast<float*>(room), first_row, first_column,
                                                      rows, columns, store);
}

}  // namespace passnet
