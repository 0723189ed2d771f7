// Rows of a tensor, each shared out over neighbouring threads that keep their part of it in registers.
#pragma once

#include <passnet/gpu/memory.h>
#include <passnet/gpu/threads.h>

namespace passnet {

/// Elements per access for rows of n over `threads`: as many as 16 bytes hold, fewer where n is not a multiple of them
/// or threads would be left without work.
template <class T>
PASSNET_INLINE constexpr int row_access(int64_t n, int threads) {
  int width = vector_width<T>;
  while (width > 1 && (n % width != 0 || width * threads > n)) width /= 2;
  return width;
}

/// A row of n elements of T as floats, over `threads` neighbouring threads: all of the block, or a power of two up to a
/// warp, where a block has several rows. Reductions are for all threads of the row at once. Rows lie n elements apart,
/// in memory that begins at a multiple of 16 bytes.
///
///   using Row = passnet::Row<T, N, 32>;
///   const int64_t row = Row::index();
///   if (row >= rows) return;
///   const Row x = Row::load(in + row * N);
///   const float total = x.sum();
///   map([&](float v) { return v / total; }, x).store(out + row * N);
template <class T, int64_t n, int threads>
struct Row {
  static_assert(threads == thread_count || (threads <= warp_size && (threads & (threads - 1)) == 0));
  enum : int { width = row_access<T>(n, threads), parts = int(ceil_div<int64_t>(n, width* threads)) };

  floats<width> part[parts];

  /// The number of this thread's row, when the grid has one axis.
  PASSNET_INLINE static int64_t index() {
    return int64_t(task_index()) * (thread_count / threads) + thread_index() / threads;
  }
  PASSNET_INLINE static Row load(const T* x) {
    return make([&](int i) { return passnet::load<width>(x + i); });
  }
  /// f(0), f(1), …, f(n - 1): for elements that lie apart. Threads past the end call f(n - 1): so no read is behind a
  /// branch, which would hold up the reads after it.
  template <class F>
  PASSNET_INLINE static Row of(F f) {
    Row row;
#pragma unroll
    for (int p = 0; p < parts; ++p) {
#pragma unroll
      for (int k = 0; k < width; ++k) row.part[p][k] = f(inside(p) ? first(p) + k : int(n - 1));
    }
    return row;
  }
  PASSNET_INLINE void store(T* out) const {
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      if (inside(p)) passnet::store(out + first(p), part[p]);
    }
  }

  /// Of f(x) over all x of the row; each of its threads gets the result.
  template <class F>
  PASSNET_INLINE float sum(F f) const {
    return fold(f, Sum());
  }
  PASSNET_INLINE float sum() const {
    return sum([](float x) { return x; });
  }
  PASSNET_INLINE float max() const {
    return fold([](float x) { return x; }, Max());
  }

 private:
  PASSNET_INLINE static int first(int p) { return (p * threads + thread_index() % threads) * width; }
  PASSNET_INLINE static bool inside(int p) { return (p + 1) * threads * width <= n || first(p) < n; }

  template <class F>
  PASSNET_INLINE static Row make(F f) {
    Row row;
#pragma unroll
    for (int p = 0; p < parts; ++p) row.part[p] = inside(p) ? f(first(p)) : floats<width>{};
    return row;
  }
  template <class F, class Combine>
  PASSNET_INLINE float fold(F f, Combine combine) const {
    float total = Combine::template neutral<float>();
#pragma unroll
    for (int p = 0; p < parts; ++p) {
      if (!inside(p)) continue;
#pragma unroll
      for (int k = 0; k < width; ++k) total = combine(total, f(part[p][k]));
    }
    return row_fold<threads>(total, combine);
  }
};

/// f element by element; of rows that lie over the same threads.
template <class F, class T, int64_t n, int threads, class... Others>
PASSNET_INLINE Row<T, n, threads> map(F f, const Row<T, n, threads>& first, const Others&... others) {
  Row<T, n, threads> out;
#pragma unroll
  for (int p = 0; p < out.parts; ++p) out.part[p] = map(f, first.part[p], others.part[p]...);
  return out;
}

/// (x - mean) / sqrt(variance + eps) * gain + shift over a row, as torch.nn.functional.layer_norm. The variance is
/// taken in a pass of its own, exact also where |mean| is far above the spread.
template <class T, int64_t n, int threads>
PASSNET_INLINE Row<T, n, threads> layer_norm(const Row<T, n, threads>& x, const Row<T, n, threads>& gain,
                                             const Row<T, n, threads>& shift, float eps) {
  constexpr float share = 1.0f / float(n);
  const float mean = x.sum() * share;
  const float variance = x.sum([&](float v) { return (v - mean) * (v - mean); }) * share;
  const float scale = rsqrt(variance + eps);
  return map([&](float v, float g, float s) { return (v - mean) * scale * g + s; }, x, gain, shift);
}

}  // namespace passnet
