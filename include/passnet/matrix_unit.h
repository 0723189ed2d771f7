// Sums of products on a processor's matrix unit (AMX of x86-64), which multiplies tiles of 16 x 32 elements of bfloat16 sixteen
// times as fast as vectors multiply floats, and adds up the products as floats. Any float is the sum of three pieces that
// are bfloat16, and a float16 of two, so that products of these are sums of products of pieces.
#pragma once

#include <passnet/product_operands.h>
#include <passnet/task.h>

#if defined(PASSNET_MATRIX_UNIT_)

namespace passnet::detail {

/// Pieces that an element is the sum of, each with its next eight significant bits.
template <class T>
constexpr int kPieces = 3;
template <>
inline constexpr int kPieces<float16> = 2;
template <>
inline constexpr int kPieces<bfloat16> = 1;

template <class Pointer>
constexpr int kPiecesAt = 0;
template <class T>
constexpr int kPiecesAt<const T*> = kPieces<T>;
template <class T>
constexpr int kPiecesAt<T*> = kPieces<T>;

template <class Operand>
constexpr int kPiecesOf = 0;
template <Neighbours neighbours, class At>
constexpr int kPiecesOf<InMemory<neighbours, At>> =
    kPiecesAt<decltype(static_cast<const At*>(nullptr)->operator()(0, 0))>;
template <class T, class At>
constexpr int kPiecesOf<Computed<T, At>> = kPieces<T>;

// A tile of the unit: 16 rows of the left operand, or columns of the right one, over a group of 32 steps. A word holds the
// pieces of steps k and k + 16; of the left operand those of a row lie beside each other, of the right one those of a step.
constexpr int kUnitSide = 16, kGroupSteps = 32, kUnitWords = kUnitSide * kUnitSide, kUnitBytes = 4 * kUnitSide;
/// Groups whose pieces are laid side by side at a time.
constexpr int most_groups(int pieces) { return pieces == 1 ? 16 : pieces == 2 ? 8 : 4; }

/// Elements of a group of all rows, or of all columns, as they are read.
constexpr int kReadFloats = (kTileRows > kStepPitch ? kTileRows : kStepPitch) * kGroupSteps;

template <int left, int right>
struct UnitOperands {
  static constexpr int kGroups = most_groups(left > right ? left : right);
  alignas(64) uint32_t rows[kTileRows * kUnitSide * kGroups * left];
  alignas(64) uint32_t columns[kTileColumns * kUnitSide * kGroups * right];
  alignas(64) float read[kReadFloats];
};

/// Sizes of first pieces that were seen.
class Sizes {
 public:
  [[gnu::always_inline]] void note(floats first_pieces) {
    typedef short shorts __attribute__((vector_size(4 * kWidth)));
    const shorts size = (shorts)first_pieces << 1;
    smallest_ = (ints)__builtin_ia32_pminuw512_mask((shorts)smallest_, size - short{1}, size, -1);  // 0 is the largest
  }
  /// Whether none is so small that a later piece is subnormal, which the unit takes for 0.
  [[gnu::always_inline]] bool are_normal() const {
    constexpr uint32_t kSmallest = (127 - 103) << 8;
    return !any((ints)(((words)smallest_ >> 16) < kSmallest - 1)) &&
           !any((ints)(((words)smallest_ & 0xffffu) < kSmallest - 1));
  }

 private:
  ints smallest_ = ints{} - 1;
};

/// The pieces of steps k and k + 16, word by word.
template <int pieces>
[[gnu::always_inline]] inline void split(floats low, floats high, Sizes& sizes, floats (&out)[pieces]) {
#pragma GCC unroll 3
  for (int piece = 0; piece < pieces; ++piece) {
    const words upper_low = (words)low & 0xffff0000u, upper_high = (words)high & 0xffff0000u;
    out[piece] = (floats)(upper_low >> 16 | upper_high);
    low -= (floats)upper_low;
    high -= (floats)upper_high;
  }
  if constexpr (pieces == kPieces<float>) sizes.note(out[0]);
}

/// Stores them, a tile of the unit apart.
template <int pieces>
[[gnu::always_inline]] inline void store_pieces(floats low, floats high, Sizes& sizes, uint32_t* out) {
  floats piece[pieces];
  split(low, high, sizes, piece);
#pragma GCC unroll 3
  for (int p = 0; p < pieces; ++p) __builtin_memcpy(out + p * kUnitWords, &piece[p], kUnitBytes);
}

/// How many of 16 steps from `step` on are before `steps`.
[[gnu::always_inline]] inline int steps_there(int64_t step, int64_t steps) {
  return steps - step >= kLanes ? kLanes : steps > step ? static_cast<int>(steps - step) : 0;
}

/// Calls body(group, begin, steps) for each group of some steps, of which the last one may have fewer, then with zeros in `read`.
template <class Body>
[[gnu::always_inline]] inline void for_groups(int64_t begin, int64_t steps, float* read, Body body) {
  for (int64_t group = 0, first = 0; first < steps; ++group, first += kGroupSteps) {
    const int64_t n = steps - first < kGroupSteps ? steps - first : kGroupSteps;
    if (n < kGroupSteps) __builtin_memset(read, 0, sizeof(float) * kReadFloats);
    body(group, begin + first, n);
  }
}

/// Lays out pieces of a tile's rows: at (row / 16, group, piece) a tile of the unit. `read` has room for a group of all rows.
template <class At>
inline void lay_rows(const InMemory<Neighbours::AlongDepth, At>& left, const ProductTile& tile, int64_t begin,
                     int64_t steps, float*, Sizes& sizes, uint32_t* out) {
  constexpr int kOwn = kPiecesOf<InMemory<Neighbours::AlongDepth, At>>;
  for (int64_t top = 0; top < tile.rows; top += kUnitSide) {
    const int64_t rows = tile.rows - top < kUnitSide ? tile.rows - top : kUnitSide;
    for (int64_t k = 0; k < steps; k += kGroupSteps, out += kOwn * kUnitWords) {
      const int there = steps_there(k, steps), further = steps_there(k + kLanes, steps);
      for (int64_t row = 0; row < rows; ++row) {
        const auto* const from = left.at(tile.first_row + top + row, begin + k);
        store_pieces<kOwn>(load(from, there).part[0], load(from + kLanes, further).part[0], sizes,
                           out + row * kUnitSide);
      }
    }
  }
}
/// Rows that are read step by step are turned once they are pieces.
template <class Left>
inline void lay_rows(const Left& left, const ProductTile& tile, int64_t begin, int64_t steps, float* read, Sizes& sizes,
                     uint32_t* out) {
  constexpr int kOwn = kPiecesOf<Left>;
  const int64_t groups = ceil_div(steps, kGroupSteps);
  for_groups(
      begin, steps, read, [&](int64_t group, int64_t first, int64_t n) __attribute__((always_inline)) {
        read_rows(left, tile, first, n, kGroupSteps, read);
        for (int64_t top = 0; top < tile.rows; top += kUnitSide) {
          floats word[kOwn][kUnitSide];
          for (int i = 0; i < kUnitSide; ++i) {
            const float* const from =
                is_step_by_step<Left> ? read + i * kTileRows + top : read + (top + i) * kGroupSteps;
            floats piece[kOwn];
            split<kOwn>(load_part(from), load_part(from + kLanes * (is_step_by_step<Left> ? kTileRows : 1)), sizes,
                        piece);
            for (int p = 0; p < kOwn; ++p) word[p][i] = piece[p];
          }
          uint32_t* const to = out + (top / kUnitSide * groups + group) * kOwn * kUnitWords;
          for (int p = 0; p < kOwn; ++p) {
            if constexpr (is_step_by_step<Left>) transpose(word[p]);
            for (int i = 0; i < kUnitSide; ++i)
              __builtin_memcpy(to + p * kUnitWords + i * kUnitSide, &word[p][i], kUnitBytes);
          }
        }
      });
}

/// The same of its columns.
template <class Right>
inline void lay_columns(const Right& right, const ProductTile& tile, int64_t width, int64_t begin, int64_t steps,
                        float* read, Sizes& sizes, uint32_t* out) {
  constexpr int kOwn = kPiecesOf<Right>;
  const int64_t groups = ceil_div(steps, kGroupSteps);
  for_groups(
      begin, steps, read, [&](int64_t group, int64_t first, int64_t n) __attribute__((always_inline)) {
        read_columns(right, tile, width, first, n, read);
        for (int64_t column = 0; column < tile.columns; column += kUnitSide) {
          uint32_t* const to = out + (column / kUnitSide * groups + group) * kOwn * kUnitWords;
          for (int i = 0; i < kUnitSide; ++i) {
            const float* const from = read + i * kStepPitch + column;
            store_pieces<kOwn>(load_part(from), load_part(from + kLanes * kStepPitch), sizes, to + i * kUnitSide);
          }
        }
      });
}

// The unit's eight registers: four of sums, two of either operand.
constexpr int kLeftUnit = 4, kRightUnit = 6;
struct UnitShape {
  uint8_t palette = 1, first_row = 0, unused[14] = {};
  uint16_t bytes[16] = {64, 64, 64, 64, 64, 64, 64, 64};
  uint8_t rows[16] = {16, 16, 16, 16, 16, 16, 16, 16};
};
inline constexpr UnitShape kUnitShape;

template <int unit>
[[gnu::always_inline]] inline void load_unit(const void* from, int64_t pitch) {
  asm volatile("tileloadd (%0,%1,1), %%tmm%c2" : : "r"(from), "r"(pitch), "i"(unit) : "memory");
}
template <int unit>
[[gnu::always_inline]] inline void store_unit(void* to, int64_t pitch) {
  asm volatile("tilestored %%tmm%c2, (%0,%1,1)" : : "r"(to), "r"(pitch), "i"(unit) : "memory");
}
template <int unit>
[[gnu::always_inline]] inline void clear_unit() {
  asm volatile("tilezero %%tmm%c0" : : "i"(unit));
}
template <int sum, int left, int right>
[[gnu::always_inline]] inline void multiply_units() {
  asm volatile("tdpbf16ps %%tmm%c2, %%tmm%c1, %%tmm%c0" : : "i"(sum), "i"(left), "i"(right));
}

/// Calls body(Count<0>()), … body(Count<n - 1>()).
template <int n, class Body>
[[gnu::always_inline]] inline void for_counts(Body body) {
  if constexpr (n > 0) {
    for_counts<n - 1>(body);
    body(Count<n - 1>());
  }
}

/// Pieces of the right operand that piece `i` of the left one is multiplied by: what the others come to is less than a float's
/// last bit.
constexpr int pieces_beside(int i, int right) { return right < 3 - i ? right : 3 - i; }
/// Which of them is the n-th, so that most of the time the one before is still there.
constexpr int piece_beside(int i, int right, int n) { return i % 2 == 0 ? pieces_beside(i, right) - 1 - n : n; }

/// Adds to down x beside tiles of sums what all groups come to. Tiles of an operand lie `pitch` words apart.
template <int left_pieces, int right_pieces, int down, int beside>
inline void add_units(const uint32_t* left, int64_t left_pitch, const uint32_t* right, int64_t right_pitch,
                      int64_t groups, float* sums) {
  constexpr int64_t kPitch = sizeof(float) * kTileColumns;
  const auto for_sums = [&](auto body) __attribute__((always_inline)) {
    for_counts<down * beside>([&](auto sum) __attribute__((always_inline)) {
      body(sum, Count<sum / beside>(), Count<sum % beside>());
    });
  };
  const auto at = [&](int r, int c) { return sums + r * kUnitSide * kTileColumns + c * kUnitSide; };
  for_sums([&](auto sum, auto, auto) __attribute__((always_inline)) { clear_unit<sum>(); });
  for (int64_t group = 0; group < groups; ++group) {
    for_counts<left_pieces>([&](auto of_left) __attribute__((always_inline)) {
      constexpr int i = of_left;
      for_counts<down>([&](auto r) __attribute__((always_inline)) {
        load_unit<kLeftUnit + r>(left + r * left_pitch + (group * left_pieces + i) * kUnitWords, kUnitBytes);
      });
      for_counts<pieces_beside(i, right_pieces)>([&](auto n) __attribute__((always_inline)) {
        constexpr int j = piece_beside(i, right_pieces, n);
        constexpr bool is_there =
            n == 0 && i > 0 && j == piece_beside(i - 1, right_pieces, pieces_beside(i - 1, right_pieces) - 1);
        if constexpr (!is_there) {
          for_counts<beside>([&](auto c) __attribute__((always_inline)) {
            load_unit<kRightUnit + c>(right + c * right_pitch + (group * right_pieces + j) * kUnitWords, kUnitBytes);
          });
        }
        for_sums([&](auto sum, auto r, auto c)
                     __attribute__((always_inline)) { multiply_units<sum, kLeftUnit + r, kRightUnit + c>(); });
      });
    });
  }
  alignas(64) float added[kUnitWords];
  for_sums([&](auto sum, auto r, auto c) __attribute__((always_inline)) {
    store_unit<sum>(added, kUnitBytes);
    float* const to = at(r, c);
    for (int i = 0; i < kUnitSide; ++i)
      store(to + i * kTileColumns, load(to + i * kTileColumns) + load(added + i * kUnitSide));
  });
}

/// Whether all sums of a tile are: of what has infinity or NaN in it none is, as these have no pieces.
inline bool are_finite(const ProductTile& tile, const float* sums) {
  constexpr int32_t kInfinity = 0x7f800000;
  ints largest{};
  for (int64_t row = 0; row < tile.rows; ++row) {
    for_blocks(
        0, tile.columns, [&](int64_t column, int lanes) __attribute__((always_inline)) {
          const ints size = bits(load(sums + row * kTileColumns + column, lanes).part[0]) & kInfinity;
          largest = __builtin_ia32_pmaxsd512_mask(largest, size, size, -1);
        });
  }
  return !any(largest == kInfinity);
}

/// Adds to the sums of a tile what `depth` steps come to. Returns: whether all elements have pieces; the sums are not these
/// otherwise.
template <class Left, class Right>
inline bool add_on_matrix_unit(const ProductTile& tile, int64_t width, int64_t depth, const Left& left,
                               const Right& right, float* sums) {
  constexpr int kLeft = kPiecesOf<Left>, kRight = kPiecesOf<Right>;
  using Operands = UnitOperands<kLeft, kRight>;
  constexpr int kSteps = Operands::kGroups * kGroupSteps;
  Operands operands;
  __builtin_memset(operands.read, 0,
                   sizeof operands.read);  // what lies beside a tile is laid out too, and has its size noted
  Sizes sizes;
  asm volatile("ldtilecfg %0" : : "m"(kUnitShape));
  for (int64_t begin = 0; begin < depth; begin += kSteps) {
    const int64_t steps = depth - begin < kSteps ? depth - begin : kSteps, groups = ceil_div(steps, kGroupSteps);
    lay_rows(left, tile, begin, steps, operands.read, sizes, operands.rows);
    lay_columns(right, tile, width, begin, steps, operands.read, sizes, operands.columns);
    const int64_t left_pitch = groups * kLeft * kUnitWords, right_pitch = groups * kRight * kUnitWords;
    for (int64_t column = 0; column < tile.columns; column += 2 * kUnitSide) {
      const uint32_t* const of_columns = operands.columns + column / kUnitSide * right_pitch;
      for (int64_t row = 0; row < tile.rows; row += 2 * kUnitSide) {
        const uint32_t* const of_rows = operands.rows + row / kUnitSide * left_pitch;
        const auto add = [&](auto down, auto beside) __attribute__((always_inline)) {
          add_units<kLeft, kRight, down, beside>(of_rows, left_pitch, of_columns, right_pitch, groups,
                                                 sums + row * kTileColumns + column);
        };
        const bool two_down = tile.rows - row > kUnitSide, two_beside = tile.columns - column > kUnitSide;
        if (two_down && two_beside)
          add(Count<2>(), Count<2>());
        else if (two_down)
          add(Count<2>(), Count<1>());
        else if (two_beside)
          add(Count<1>(), Count<2>());
        else
          add(Count<1>(), Count<1>());
      }
    }
  }
  asm volatile("tilerelease");
  return (kLeft == 1 && kRight == 1) || (sizes.are_normal() && are_finite(tile, sums));
}

/// Makes rows of columns: n of either.
inline void turn_sums(int64_t n, float* sums) {
  const auto read = [&](int64_t row, int64_t column, floats(&block)[kWidth]) __attribute__((always_inline)) {
    for (int i = 0; i < kWidth; ++i) block[i] = load_part(sums + (row + i) * kTileColumns + column);
    transpose(block);
  };
  const auto write = [&](int64_t row, int64_t column, const floats(&block)[kWidth]) __attribute__((always_inline)) {
    for (int i = 0; i < kWidth; ++i) store_part(sums + (row + i) * kTileColumns + column, block[i]);
  };
  for (int64_t row = 0; row < n; row += kWidth) {
    for (int64_t column = 0; column <= row; column += kWidth) {
      floats below[kWidth], above[kWidth];
      read(row, column, below);
      read(column, row, above);
      write(column, row, below);
      write(row, column, above);
    }
  }
}

/// Computes the sums of a tile, kTileColumns from row to row. Returns: false where not all elements have pieces; the sums are not
/// these then.
template <class Left, class Right>
inline bool compute_on_matrix_unit(const ProductTile& tile, int64_t width, int64_t depth, const Left& left,
                                   const Right& right, float* sums) {
  const auto add = [&](const ProductTile& own, const auto& rows, const auto& columns) __attribute__((always_inline)) {
    clear_sums(own.rows, sums);
    return add_on_matrix_unit(own, width, depth, rows, columns, sums);
  };
  if constexpr (lie_along_depth<Left, Right>) {
    // What lies along depth is a row already, and would have to be turned to be a column.
    if (tile.columns > tile.rows) {
      if (!add({tile.first_column, tile.columns, tile.first_row, tile.rows}, right, left)) return false;
      turn_sums(tile.columns, sums);
      return true;
    }
  }
  return add(tile, left, right);
}

}  // namespace passnet::detail
#endif
