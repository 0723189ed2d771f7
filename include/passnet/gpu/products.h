// Products of matrices: a block computes a tile of sums, on tensor cores where the elements allow it.
#pragma once

#include <passnet/gpu/memory.h>
#include <passnet/gpu/threads.h>

namespace passnet {

/// Which way an operand of a product goes in memory by neighbours: along what is summed up, or across it.
enum class Neighbours { AlongDepth, AcrossDepth };

/// An operand whose elements lie in memory: at(across, k) is the address of one, where `across` is a row or a column of the
/// result and k a step of the sums. `run` neighbours (a power of two) are read at once: the extent along which they lie is
/// a multiple of `run`, and so is the place of the first of them, counted in elements from a multiple of 16 bytes.
template <Neighbours neighbours, int run, class At>
struct InMemory {
  At at;
};
template <Neighbours neighbours, int run, class At>
PASSNET_INLINE InMemory<neighbours, run, At> in_memory(At at) {
  return {at};
}

/// An operand whose elements are computed: at(across, k) is one, as T.
template <Neighbours neighbours, class At>
struct Computed {
  At at;
};
template <Neighbours neighbours, class At>
PASSNET_INLINE Computed<neighbours, At> computed(At at) {
  return {at};
}

namespace detail {

/// Steps of a stage, of which three at least fit into shared memory.
PASSNET_INLINE constexpr int stage_depth(int rows, int columns, int bytes) {
  return (rows * columns <= 1024 ? 128 : rows * columns <= 4096 ? 64 : 32) / bytes;
}

/// Elements of one operand in shared memory: `tile` of them across, `depth` steps.
template <bool along_depth, int tile, int depth, int pad>
struct Stage {
  enum : int { pitch = (along_depth ? depth : tile) + pad, size = (along_depth ? tile : depth) * pitch };
  PASSNET_INLINE static int place(int across, int k) { return along_depth ? across * pitch + k : k * pitch + across; }
  /// From one of a run of neighbours in memory to the next.
  PASSNET_INLINE static constexpr int step(bool run_along_depth) { return run_along_depth == along_depth ? 1 : pitch; }
};

/// How the threads of a block share out the elements of a stage of one operand: `count` runs for each of them.
template <bool along_depth, int run, int tile, int depth>
struct Shares {
  enum : int { runs_beside = (along_depth ? depth : tile) / run, count = tile * depth / run / thread_count };
  PASSNET_INLINE static int across(int share) {
    const int number = share * thread_count + thread_index();
    return along_depth ? number / runs_beside : number % runs_beside * run;
  }
  PASSNET_INLINE static int step(int share) {
    const int number = share * thread_count + thread_index();
    return along_depth ? number % runs_beside * run : number / runs_beside;
  }
};

/// Copies that go on while others are computed: `bytes` (4, 8 or 16) to shared memory; zeros where `is_there` does not hold.
template <int bytes>
PASSNET_INLINE void begin_copy(void* to, const void* from, bool is_there) {
  const auto address = uint32_t(__cvta_generic_to_shared(to));
  const int size = is_there ? bytes : 0;
  if constexpr (bytes == 16)
    asm volatile("cp.async.cg.shared.global [%0], [%1], 16, %2;" ::"r"(address), "l"(from), "r"(size) : "memory");
  else
    asm volatile("cp.async.ca.shared.global [%0], [%1], %2, %3;" ::"r"(address), "l"(from), "n"(bytes), "r"(size)
                 : "memory");
}
/// What was begun since the last time is a group.
PASSNET_INLINE void close_group() { asm volatile("cp.async.commit_group;" ::: "memory"); }
/// Until at most the last `groups` of this thread are under way.
template <int groups>
PASSNET_INLINE void wait_for_all_but() {
  asm volatile("cp.async.wait_group %0;" ::"n"(groups) : "memory");
}

/// Brings elements of an operand to a stage: fetch() begins it, settle() ends it after something else was computed.
template <class T, class Products, int tile, bool along, int run, class At>
struct RunReader {
  static constexpr bool along_depth = along;
  using Stage = typename Products::template Stage<along_depth, tile>;
  using Share = Shares<along_depth, run, tile, Products::depth>;
  At at;

  PASSNET_INLINE void fetch(int64_t first, int64_t begin, int64_t extent, int64_t depth, T* stage) {
#pragma unroll
    for (int share = 0; share < Share::count; ++share) {
      const int64_t across = first + Share::across(share), k = begin + Share::step(share);
      const bool is_there = across < extent && k < depth;
      const T* const from = at(across, k);
      constexpr int step = Stage::step(along_depth);
      T* const to = stage + Stage::place(Share::across(share), Share::step(share));
      if constexpr (step == 1) {
        begin_copy<run* int(sizeof(T))>(to, from, is_there);
      } else {
#pragma unroll
        for (int i = 0; i < run; ++i) begin_copy<int(sizeof(T))>(to + i * step, from + i, is_there);
      }
    }
  }
  PASSNET_INLINE void settle(T*) {}
};

/// Elements one by one, by way of registers.
template <class T, class Products, int tile, bool along, class Element>
struct ElementReader {
  static constexpr bool along_depth = along;
  using Stage = typename Products::template Stage<along_depth, tile>;
  using Share = Shares<along_depth, 1, tile, Products::depth>;
  Element element;
  T held[Share::count];

  PASSNET_INLINE void fetch(int64_t first, int64_t begin, int64_t extent, int64_t depth, T*) {
#pragma unroll
    for (int share = 0; share < Share::count; ++share) {
      const int64_t across = first + Share::across(share), k = begin + Share::step(share);
      held[share] = across < extent && k < depth ? element(across, k) : T(0.0f);
    }
  }
  PASSNET_INLINE void settle(T* stage) {
#pragma unroll
    for (int share = 0; share < Share::count; ++share)
      stage[Stage::place(Share::across(share), Share::step(share))] = held[share];
  }
};

template <class T, class Products, int tile, Neighbours neighbours, class At>
PASSNET_INLINE auto reader_of(const Computed<neighbours, At>& operand) {
  return ElementReader<T, Products, tile, neighbours == Neighbours::AlongDepth, At>{operand.at};
}
template <class T, class Products, int tile, Neighbours neighbours, int run, class At>
PASSNET_INLINE auto reader_of(const InMemory<neighbours, run, At>& operand) {
  if constexpr (run * int(sizeof(T)) >= 4) {
    return RunReader<T, Products, tile, neighbours == Neighbours::AlongDepth, run, At>{operand.at};
  } else {
    const auto element = [at = operand.at](int64_t across, int64_t k) { return *at(across, k); };
    return ElementReader<T, Products, tile, neighbours == Neighbours::AlongDepth, decltype(element)>{element};
  }
}

/// Four matrices of 8 x 8 elements of 16 bits; a lane gives the address of the row of its number.
template <bool transposed>
PASSNET_INLINE void load_matrices(uint32_t (&words)[4], const void* row) {
  const auto address = uint32_t(__cvta_generic_to_shared(row));
  if constexpr (transposed)
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.trans.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
  else
    asm volatile("ldmatrix.sync.aligned.m8n8.x4.shared.b16 {%0, %1, %2, %3}, [%4];"
                 : "=r"(words[0]), "=r"(words[1]), "=r"(words[2]), "=r"(words[3])
                 : "r"(address)
                 : "memory");
}

/// sums += left * right, 16 x 8 sums of 16 steps.
PASSNET_INLINE void multiply(float (&sums)[4], const uint32_t (&left)[4], const uint32_t* right, float16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.f16.f16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}
PASSNET_INLINE void multiply(float (&sums)[4], const uint32_t (&left)[4], const uint32_t* right, bfloat16) {
  asm("mma.sync.aligned.m16n8k16.row.col.f32.bf16.bf16.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/// Where the warps of a block stand in its tile, and which of the sums a lane has: those of tensor cores.
template <int rows, int columns>
struct OfWarps {
  enum : int {
    warps_below = rows == 32 && columns == 32 ? 2 : rows / 32,
    warps_beside = thread_count / warp_size / warps_below,
    height = rows / warps_below,
    width = columns / warps_beside,
    down = height / 16,
    beside = width / 8,
  };
  float sums[down][beside][4] = {};

  PASSNET_INLINE static int row() { return thread_index() / warp_size / warps_beside * height; }
  PASSNET_INLINE static int column() { return thread_index() / warp_size % warps_beside * width; }
  /// put(row, column, sum) of those in rows [first, first + 32).
  template <class Put>
  PASSNET_INLINE void for_rows(int first, Put put) const {
    const int lane = thread_index() % warp_size;
#pragma unroll
    for (int i = 0; i < down; ++i) {
#pragma unroll
      for (int half = 0; half < 2; ++half) {
        const int at = row() + i * 16 + half * 8 + lane / 4;
        if (at < first || at >= first + 32) continue;
#pragma unroll
        for (int j = 0; j < beside; ++j) {
          put(at - first, column() + j * 8 + lane % 4 * 2, sums[i][j][half * 2]);
          put(at - first, column() + j * 8 + lane % 4 * 2 + 1, sums[i][j][half * 2 + 1]);
        }
      }
    }
  }
};

/// Elements of 16 bits on tensor cores.
template <class T, int rows, int columns>
struct HalfProducts : OfWarps<rows, columns> {
  using Of = OfWarps<rows, columns>;
  enum : int { depth = stage_depth(rows, columns, 2) };
  template <bool along_depth, int across>
  using Stage = detail::Stage<along_depth, across, depth, 8>;

  /// steps: how many there are, of this stage or more.
  template <bool left_along, bool right_along>
  PASSNET_INLINE void add(const T* left, const T* right, int64_t steps) {
    const int lane = thread_index() % warp_size;
#pragma unroll
    for (int k = 0; k < depth; k += 16) {
      if (k >= steps) break;
      uint32_t of_rows[Of::down][4], of_columns[Of::beside / 2][4];
#pragma unroll
      for (int i = 0; i < Of::down; ++i) {
        const int row = Of::row() + i * 16;
        if constexpr (left_along)
          load_matrices<false>(of_rows[i], left + Stage<true, rows>::place(row + lane % 16, k + lane / 16 * 8));
        else
          load_matrices<true>(of_rows[i],
                              left + Stage<false, rows>::place(row + lane / 8 % 2 * 8, k + lane % 8 + lane / 16 * 8));
      }
#pragma unroll
      for (int j = 0; j < Of::beside / 2; ++j) {
        const int column = Of::column() + j * 16;
        if constexpr (right_along)
          load_matrices<false>(of_columns[j], right + Stage<true, columns>::place(column + lane % 8 + lane / 16 * 8,
                                                                                  k + lane / 8 % 2 * 8));
        else
          load_matrices<true>(of_columns[j], right + Stage<false, columns>::place(column + lane / 16 * 8,
                                                                                  k + lane % 8 + lane / 8 % 2 * 8));
      }
#pragma unroll
      for (int i = 0; i < Of::down; ++i) {
#pragma unroll
        for (int j = 0; j < Of::beside; ++j) multiply(this->sums[i][j], of_rows[i], of_columns[j / 2] + j % 2 * 2, T());
      }
    }
  }
};

/// Floats in full: a thread has a part of the tile, of whose rows and columns it reads four at a time.
template <int rows, int columns>
struct ExactProducts {
  enum : int {
    depth = stage_depth(rows, columns, 4),
    beside = rows > columns ? 8 : 16,  // threads
    below = thread_count / beside,
    height = rows / below,
    width = columns / beside,
    down_at_once = height < 4 ? height : 4,
    across_at_once = width < 4 ? width : 4,
  };
  // Neighbours across lie side by side whatever they are read from.
  template <bool along_depth, int across>
  using Stage = detail::Stage<false, across, depth, 4>;

  float sums[height][width] = {};

  // A thread's rows and columns lie in groups, so that those of neighbours are neighbours.
  PASSNET_INLINE static int row(int i) {
    return i / down_at_once * (down_at_once * below) + thread_index() / beside * down_at_once + i % down_at_once;
  }
  PASSNET_INLINE static int column(int j) {
    return j / across_at_once * (across_at_once * beside) + thread_index() % beside * across_at_once +
           j % across_at_once;
  }
  template <int at_once>
  PASSNET_INLINE static void read(float* into, const float* from) {
    const auto pack = *reinterpret_cast<const Pack<float, at_once>*>(from);
#pragma unroll
    for (int i = 0; i < at_once; ++i) into[i] = pack.element[i];
  }

  template <bool left_along, bool right_along>
  PASSNET_INLINE void add(const float* left, const float* right, int64_t steps) {
#pragma unroll
    for (int k = 0; k < depth; ++k) {
      if (k >= steps) break;
      float a[height], b[width];
#pragma unroll
      for (int i = 0; i < height; i += down_at_once)
        read<down_at_once>(a + i, left + Stage<false, rows>::place(row(i), k));
#pragma unroll
      for (int j = 0; j < width; j += across_at_once)
        read<across_at_once>(b + j, right + Stage<false, columns>::place(column(j), k));
#pragma unroll
      for (int i = 0; i < height; ++i) {
#pragma unroll
        for (int j = 0; j < width; ++j) sums[i][j] = fmaf(a[i], b[j], sums[i][j]);
      }
    }
  }

  template <class Put>
  PASSNET_INLINE void for_rows(int first, Put put) const {
#pragma unroll
    for (int i = 0; i < height; ++i) {
      const int at = row(i);
      if (at < first || at >= first + 32) continue;
#pragma unroll
      for (int j = 0; j < width; ++j) put(at - first, column(j), sums[i][j]);
    }
  }
};

template <class T, int rows, int columns>
struct ProductsOf {
  using type = HalfProducts<T, rows, columns>;
};
template <int rows, int columns>
struct ProductsOf<float, rows, columns> {
  using type = ExactProducts<rows, columns>;
};

template <int tile_columns>
inline constexpr int strip_pitch = tile_columns + 4;

/// Stores 32 rows of sums. is_whole: all of them are inside; then reads for several sums are under way at once.
template <int tile_columns, bool is_whole, class Store>
PASSNET_INLINE void store_strip(const float* strip, int64_t first_row, int64_t first_column, int64_t rows,
                                int64_t columns, Store& store) {
#pragma unroll 8
  for (int at = thread_index(); at < 32 * tile_columns; at += thread_count) {
    const int64_t row = first_row + at / tile_columns, column = first_column + at % tile_columns;
    if (is_whole || (row < rows && column < columns))
      store(row, column, strip[at / tile_columns * strip_pitch<tile_columns> + at % tile_columns]);
  }
}

}  // namespace detail

/// A tile of sums over `depth` steps: rows from `tile_row * tile_rows` on, columns likewise, of a result of `rows` x `columns`.
/// T: of all elements; those of 16 bits are multiplied on tensor cores, floats in full, never rounded to TF32. store(row, column,
/// sum): for each sum inside the result, neighbouring threads take neighbouring columns. The sides of a tile are 32, 64 or 128;
/// all threads of the block take part: 256 of them for one of 128 x 128, 128 for all others. For sm_80 and later.
template <class T, int tile_rows, int tile_columns, class Left, class Right, class Store>
PASSNET_INLINE void product_tile(int64_t tile_row, int64_t tile_column, int64_t rows, int64_t columns, int64_t depth,
                                 const Left& left, const Right& right, Store store) {
  static_assert((tile_rows == 32 || tile_rows == 64 || tile_rows == 128) &&
                    (tile_columns == 32 || tile_columns == 64 || tile_columns == 128),
                "a side of a tile is 32, 64 or 128");
  static_assert(thread_count == (tile_rows == 128 && tile_columns == 128 ? 256 : 128),
                "a tile of 128 x 128 has 256 threads, others have 128");
  using Products = typename detail::ProductsOf<T, tile_rows, tile_columns>::type;
  enum : int { steps = Products::depth };
  auto of_rows = detail::reader_of<T, Products, tile_rows>(left);
  auto of_columns = detail::reader_of<T, Products, tile_columns>(right);
  constexpr bool left_along = decltype(of_rows)::along_depth, right_along = decltype(of_columns)::along_depth;
  constexpr int left_size = decltype(of_rows)::Stage::size, size = left_size + decltype(of_columns)::Stage::size;
  constexpr int most = 48 * 1024 / (size * int(sizeof(T))), stages = most < 4 ? most : 4;
  static_assert(stages >= 3);
  __shared__ alignas(16) unsigned char room[stages * size * sizeof(T)];
  T* const elements = reinterpret_cast<T*>(room);
  const int64_t first_row = tile_row * tile_rows, first_column = tile_column * tile_columns;

  Products products;
  const auto stage = [&](int64_t begin) { return elements + begin / steps % stages * size; };
  const auto fetch = [&](int64_t begin) {
    if (begin < depth) {
      of_rows.fetch(first_row, begin, rows, depth, stage(begin));
      of_columns.fetch(first_column, begin, columns, depth, stage(begin) + left_size);
    }
    detail::close_group();
  };
  const auto settle = [&](int64_t begin) {
    if (begin >= depth) return;
    of_rows.settle(stage(begin));
    of_columns.settle(stage(begin) + left_size);
  };
  constexpr int ahead = (stages - 1) * steps;
  for (int64_t begin = 0; begin < ahead; begin += steps) {
    fetch(begin);
    settle(begin);
  }
  for (int64_t begin = 0; begin < depth; begin += steps) {
    detail::wait_for_all_but<stages - 2>();
    __syncthreads();
    // Later elements are on their way while these are multiplied.
    fetch(begin + ahead);
    products.template add<left_along, right_along>(stage(begin), stage(begin) + left_size, depth - begin);
    settle(begin + ahead);
  }
  detail::wait_for_all_but<0>();
  __syncthreads();

  // By way of shared memory, strip by strip, so that neighbours are stored together.
  constexpr int strip_pitch = detail::strip_pitch<tile_columns>;
  static_assert(32 * strip_pitch * sizeof(float) <= sizeof(room));
  float* const strip = reinterpret_cast<float*>(room);
#pragma unroll 1
  for (int first = 0; first < tile_rows; first += 32) {
    products.for_rows(first, [&](int row, int column, float sum) { strip[row * strip_pitch + column] = sum; });
    __syncthreads();
    if (first_row + first + 32 <= rows && first_column + tile_columns <= columns)
      detail::store_strip<tile_columns, true>(strip, first_row + first, first_column, rows, columns, store);
    else
      detail::store_strip<tile_columns, false>(strip, first_row + first, first_column, rows, columns, store);
    __syncthreads();
  }
}

}  // namespace passnet
