// Squares of elements that go through shared memory: read by neighbours along one side, and used by neighbours along the other.
#pragma once

#include <passnet/gpu/memory.h>
#include <passnet/gpu/threads.h>

namespace passnet {

/// tile[row][column] = row_at(row)[column] for all rows and columns below those given, by all threads of the block, each of which
/// reads `pack` neighbours at once. One column more than there is, so that neither rows nor columns lie in one bank.
/// REQUIRES: where rows begin and columns are multiples of pack; side * side / pack is one of thread_count.
template <int pack, int side, class T, class RowAt>
PASSNET_INLINE void read_tile(T (&tile)[side][side + 1], RowAt row_at, int64_t rows, int64_t columns) {
  constexpr int across = side / pack, below = thread_count / across, parts = side / below;
  static_assert(parts > 0);
  constexpr int width = detail::access_width<T, pack>;
  using Word = typename detail::Word<width* int(sizeof(T))>::type;
  const int row = thread_index() / across, column = thread_index() % across * pack;
  // All reads are on their way before the first is waited for.
  Word words[parts][pack / width];
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int at = row + part * below;
#pragma unroll
    for (int word = 0; word < pack / width; ++word) {
      if (at < rows && column < columns)
        words[part][word] = __ldg(reinterpret_cast<const Word*>(row_at(at) + column) + word);
    }
  }
#pragma unroll
  for (int part = 0; part < parts; ++part) {
#pragma unroll
    for (int i = 0; i < pack; ++i) {
      const auto& elements = *reinterpret_cast<const detail::Pack<T, width>*>(&words[part][i / width]);
      tile[row + part * below][column + i] = elements.element[i % width];
    }
  }
}

/// The same of rows that begin `step` apart.
template <int pack, int side, class T>
PASSNET_INLINE void read_tile(T (&tile)[side][side + 1], const T* from, int64_t step, int64_t rows, int64_t columns) {
  read_tile<pack>(
      tile, [=](int64_t row) { return from + row * step; }, rows, columns);
}

}  // namespace passnet
