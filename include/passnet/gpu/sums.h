// A tile of sums of products, which the threads of a block have in registers: on tensor cores, or multiplied in full.
#pragma once

#include <passnet/gpu/operands.h>

namespace passnet {

/// Floats that are multiplied on tensor cores, each rounded to 11 bits (TF32) first, and added up as floats.
struct tf32 {};

namespace detail {

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

/// sums += left * right, 16 x 8 sums of 8 steps.
PASSNET_INLINE void multiply(float (&sums)[4], const uint32_t (&left)[4], const uint32_t* right, tf32) {
  asm("mma.sync.aligned.m16n8k8.row.col.f32.tf32.tf32.f32 {%0, %1, %2, %3}, {%4, %5, %6, %7}, {%8, %9}, {%0, %1, %2, "
      "%3};"
      : "+f"(sums[0]), "+f"(sums[1]), "+f"(sums[2]), "+f"(sums[3])
      : "r"(left[0]), "r"(left[1]), "r"(left[2]), "r"(left[3]), "r"(right[0]), "r"(right[1]));
}

/// How many of these warps stand below each other, so that their parts of a tile are as square as can be.
PASSNET_INLINE constexpr int rows_of_warps(int rows, int columns, int warps) {
  int below = 1;
  for (int beside = 1; below * beside < warps;) (rows * beside >= columns * below ? below : beside) *= 2;
  return below;
}

/// Where the warps of a block stand in its tile, and which of the sums a lane has: those of tensor cores.
template <int rows, int columns>
struct OfWarps {
  enum : int {
    warps = thread_count / warp_size,
    // Warps that have the same sums, each of other steps.
    parts = rows * columns <= 2048   ? 4
            : rows * columns <= 4096 ? 2
                                     : 1,
    warps_below = rows_of_warps(rows, columns, warps / parts),
    warps_beside = warps / parts / warps_below,
    height = rows / warps_below,
    width = columns / warps_beside,
    down = height / 16,
    beside = width / 8,
  };
  float sums[down][beside][4] = {};

  PASSNET_INLINE static int part() { return thread_index() / warp_size / (warps / parts); }
  PASSNET_INLINE static int row() { return thread_index() / warp_size % (warps / parts) / warps_beside * height; }
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

/// To the nearest numbers of 11 bits.
PASSNET_INLINE void round(uint32_t (&words)[4]) {
#pragma unroll
  for (int i = 0; i < 4; ++i) asm("cvt.rna.tf32.f32 %0, %1;" : "=r"(words[i]) : "f"(__uint_as_float(words[i])));
}

/// What those that are multiplied as T lie in memory as.
template <class T>
struct ElementOf {
  using type = T;
};
template <>
struct ElementOf<tf32> {
  using type = float;
};

/// Elements of 16 bits, or floats as TF32, on tensor cores: so many steps at once as 32 bytes hold.
template <class T, int rows, int columns>
struct RoundedProducts : OfWarps<rows, columns> {
  using Of = OfWarps<rows, columns>;
  using Element = typename ElementOf<T>::type;
  enum : int {
    depth = stage_depth(rows, columns, sizeof(Element)),
    slots = slots_of(rows, columns),
    piece = 16 / int(sizeof(Element)),
    at_once = 2 * piece,
  };
  template <bool along_depth, int across>
  using Stage = detail::Stage<Element, along_depth, across, depth>;

  /// Four matrices of 8 across and a piece of steps: of rows the second one is below the first, of columns behind it.
  template <bool of_rows, class Stage>
  PASSNET_INLINE static void read(uint32_t (&words)[4], const Element* stage, int across, int k) {
    const int lane = thread_index() % warp_size, matrix = lane / 8;
    const auto second_across = [](int number) { return of_rows ? number % 2 : number / 2; };
    const auto second_steps = [](int number) { return of_rows ? number / 2 : number % 2; };
    if constexpr (Stage::is_along) {
      load_matrices<false>(
          words, stage + Stage::place(across + second_across(matrix) * 8 + lane % 8, k + second_steps(matrix) * piece));
    } else if constexpr (sizeof(Element) == 2) {
      load_matrices<true>(
          words, stage + Stage::place(across + second_across(matrix) * 8, k + lane % 8 + second_steps(matrix) * piece));
    } else {
#pragma unroll
      for (int i = 0; i < 4; ++i)
        words[i] = __float_as_uint(
            stage[Stage::place(across + second_across(i) * 8 + lane / 4, k + second_steps(i) * piece + lane % 4)]);
    }
    if constexpr (sizeof(Element) == 4) round(words);
  }

  template <bool left_along, bool right_along>
  PASSNET_INLINE void add(const Element* left, const Element* right, int) {
#pragma unroll
    for (int first = 0; first < depth; first += at_once * Of::parts) {
      const int k = first + Of::part() * at_once;
      uint32_t of_rows[Of::down][4], of_columns[Of::beside / 2][4];
#pragma unroll
      for (int i = 0; i < Of::down; ++i) read<true, Stage<left_along, rows>>(of_rows[i], left, Of::row() + i * 16, k);
#pragma unroll
      for (int j = 0; j < Of::beside / 2; ++j)
        read<false, Stage<right_along, columns>>(of_columns[j], right, Of::column() + j * 16, k);
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
  PASSNET_INLINE static int part() { return 0; }
  enum : int {
    depth = rows * columns <= 1024   ? 32
            : rows * columns <= 4096 ? 16
                                     : 8,
    slots = 1,
    parts = 1,
    beside = rows > columns ? 8 : 16,  // threads
    below = thread_count / beside,
    height = rows / below,
    width = columns / beside,
    down_at_once = height < 4 ? height : 4,
    across_at_once = width < 4 ? width : 4,
  };
  template <bool along_depth, int across>
  using Stage = PaddedStage<across, depth>;

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
  PASSNET_INLINE void add(const float* left, const float* right, int steps) {
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
  using type = RoundedProducts<T, rows, columns>;
};
template <int rows, int columns>
struct ProductsOf<float, rows, columns> {
  using type = ExactProducts<rows, columns>;
};

}  // namespace detail

}  // namespace passnet
