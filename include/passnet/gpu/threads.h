// Where a thread stands in the launch, and reductions over warps and blocks.
#pragma once

#include <passnet/gpu/math.h>

/// Threads per block of the launch, a constant of the build.
#ifndef PASSNET_BLOCK
#define PASSNET_BLOCK 256
#endif

/// Blocks per cluster, where the launch has clusters and the GPU too.
#if defined(PASSNET_CLUSTER) && defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
#define PASSNET_CLUSTERED_ __cluster_dims__(PASSNET_CLUSTER)
#else
#define PASSNET_CLUSTERED_
#endif

namespace passnet {

enum : int { thread_count = PASSNET_BLOCK, warp_size = 32 };

/// 0 … thread_count - 1.
PASSNET_INLINE int thread_index() { return int(threadIdx.x); }
/// This block's number on one axis of the grid: 0 = x, 1 = y, 2 = z.
PASSNET_INLINE int task_index(int axis = 0) {
  return int(axis == 0 ? blockIdx.x : axis == 1 ? blockIdx.y : blockIdx.z);
}
/// Blocks on one axis of the grid.
PASSNET_INLINE int task_count(int axis = 0) { return int(axis == 0 ? gridDim.x : axis == 1 ? gridDim.y : gridDim.z); }
/// This thread's number among all threads of a grid of one axis, and how many they are.
PASSNET_INLINE int64_t global_index() { return int64_t(blockIdx.x) * PASSNET_BLOCK + threadIdx.x; }
PASSNET_INLINE int64_t global_count() { return int64_t(gridDim.x) * PASSNET_BLOCK; }

/// x / d and x % d for x >= 0. Nearly always x has 32 bits, with which it takes a quarter of the time: always where it is
/// below n, and that has 31; both then are numbers of 32 bits.
template <int64_t d, int64_t n = int64_t(1) << 62, bool is_short = (n >> 31 == 0)>
struct Divided {
  int quotient, remainder;
  PASSNET_INLINE explicit Divided(int64_t x)
      : quotient(int(uint32_t(x) / uint32_t(d))), remainder(int(uint32_t(x) % uint32_t(d))) {}
};
template <int64_t d, int64_t n>
struct Divided<d, n, false> {
  int64_t quotient, remainder;
  PASSNET_INLINE explicit Divided(int64_t x) {
    if constexpr ((d & (d - 1)) == 0) {
      quotient = int64_t(uint64_t(x) / d);
    } else {
      quotient = uint64_t(x) >> 32 == 0 && d >> 31 == 0 ? int64_t(uint32_t(x) / uint32_t(d)) : x / d;
    }
    remainder = x - quotient * d;
  }
};

/// Whether 0 <= x < n: one comparison where n has 31 bits, for x that is no farther off than that.
PASSNET_INLINE bool inside(int64_t x, int64_t n) {
  return n >> 31 == 0 ? uint32_t(x) < uint32_t(n) : uint64_t(x) < uint64_t(n);
}

/// Waits for all threads of the block; what they wrote to shared memory is seen.
PASSNET_INLINE void block_barrier() { __syncthreads(); }

namespace detail {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 900
enum : bool { has_clusters = true };
#else
enum : bool { has_clusters = false };
#endif
}  // namespace detail

/// Clusters: blocks that run at the same time and see each other's shared memory. A launch whose constant CLUSTER is 2, 4 or 8
/// has clusters of so many blocks, which follow each other along the first axis of its grid, on sm_90 and later.
///
/// This block's number in its cluster of `cluster` blocks.
template <int cluster>
PASSNET_INLINE int cluster_rank() {
  return cluster == 1 ? 0 : task_index() % cluster;
}

/// Waits for all threads of the cluster; what they wrote to shared memory is seen by all. For sm_90 and later.
PASSNET_INLINE void cluster_barrier() {
  asm volatile("barrier.cluster.arrive.release.aligned; barrier.cluster.wait.acquire.aligned;" ::: "memory");
}

/// What lies where `own` is, in the shared memory of another block of the cluster.
PASSNET_INLINE float cluster_load(const float* own, int rank) {
  uint32_t there;
  float x;
  asm("mapa.shared::cluster.u32 %0, %1, %2;" : "=r"(there) : "r"(uint32_t(__cvta_generic_to_shared(own))), "r"(rank));
  asm volatile("ld.shared::cluster.f32 %0, [%1];" : "=f"(x) : "r"(there) : "memory");
  return x;
}

struct Sum {
  template <class T>
  PASSNET_INLINE static T neutral() {
    return T(0);
  }
  template <class T>
  PASSNET_INLINE T operator()(T a, T b) const {
    return a + b;
  }
  PASSNET_INLINE int64_t operator()(int64_t a, int64_t b) const { return int64_t(uint64_t(a) + uint64_t(b)); }
};
/// NaN if any is.
struct Max {
  template <class T>
  PASSNET_INLINE static float neutral() {
    return __int_as_float(int(0xff800000));  // -inf
  }
  PASSNET_INLINE float operator()(float a, float b) const { return maximum(a, b); }
};
/// Of whole numbers.
struct Largest {
  template <class T>
  PASSNET_INLINE static int64_t neutral() {
    return int64_t(uint64_t(1) << 63);
  }
  PASSNET_INLINE int64_t operator()(int64_t a, int64_t b) const { return a > b ? a : b; }
};
struct Smallest {
  template <class T>
  PASSNET_INLINE static int64_t neutral() {
    return ~Largest::neutral<T>();
  }
  PASSNET_INLINE int64_t operator()(int64_t a, int64_t b) const { return a < b ? a : b; }
};

/// Over `width` neighbouring lanes (a power of two up to 32); each gets the result. All lanes of the warp take part.
template <int width = warp_size, class T, class Combine>
PASSNET_INLINE T warp_fold(T x, Combine combine) {
#pragma unroll
  for (int step = width / 2; step > 0; step /= 2) x = combine(x, __shfl_xor_sync(0xffffffffu, x, step));
  return x;
}
template <int width = warp_size>
PASSNET_INLINE float warp_sum(float x) {
  return warp_fold<width>(x, Sum());
}
template <int width = warp_size>
PASSNET_INLINE float warp_max(float x) {
  return warp_fold<width>(x, Max());
}

/// Over the block; every thread gets the result. All threads take part. REQUIRES: thread_count is a multiple of 32.
template <class T, class Combine>
PASSNET_INLINE T block_fold(T x, Combine combine) {
  x = warp_fold(x, combine);
  constexpr int warps = ceil_div(int(PASSNET_BLOCK), int(warp_size));
  if constexpr (warps > 1) {
    __shared__ T partial[warps];
    const int lane = int(threadIdx.x) % warp_size;
    __syncthreads();  // the fold before this one has been read
    if (lane == 0) partial[threadIdx.x / warp_size] = x;
    __syncthreads();
    x = warp_fold(lane < warps ? partial[lane] : Combine::template neutral<T>(), combine);
  }
  return x;
}
PASSNET_INLINE float block_sum(float x) { return block_fold(x, Sum()); }
PASSNET_INLINE float block_max(float x) { return block_fold(x, Max()); }

/// Over the `threads` neighbouring threads that share a row: a power of two up to a warp, or all of the block.
template <int threads, class T, class Combine>
PASSNET_INLINE T row_fold(T x, Combine combine) {
  static_assert(threads <= warp_size || threads == thread_count);
  if constexpr (threads <= warp_size)
    return warp_fold<threads>(x, combine);
  else
    return block_fold(x, combine);
}
template <int threads, class T>
PASSNET_INLINE T row_sum(T x) {
  return row_fold<threads>(x, Sum());
}
template <int threads>
PASSNET_INLINE float row_max(float x) {
  return row_fold<threads>(x, Max());
}
template <int threads>
PASSNET_INLINE bool row_max(bool x) {
  return row_max<threads>(x ? 1.0f : 0.0f) != 0.0f;
}
template <int threads>
PASSNET_INLINE int64_t row_max(int64_t x) {
  return row_fold<threads>(x, Largest());
}
template <int threads>
PASSNET_INLINE int64_t row_min(int64_t x) {
  return row_fold<threads>(x, Smallest());
}

/// Over the `down` threads of the block whose numbers have the same remainder by thread_count / down, always in the same order;
/// each gets the result. All threads take part.
template <int down, class T, class Combine>
PASSNET_INLINE T column_fold(T x, Combine combine) {
  if constexpr (down > 1) {
    constexpr int columns = thread_count / down;
    __shared__ T partial[thread_count];
    __syncthreads();  // the fold before this one has been read
    partial[threadIdx.x] = x;
    __syncthreads();
    x = partial[threadIdx.x % columns];
#pragma unroll
    for (int i = 1; i < down; ++i) x = combine(x, partial[threadIdx.x % columns + i * columns]);
  }
  return x;
}
template <int down>
PASSNET_INLINE float column_sum(float x) {
  return column_fold<down>(x, Sum());
}
template <int down>
PASSNET_INLINE float column_max(float x) {
  return column_fold<down>(x, Max());
}
template <int down>
PASSNET_INLINE bool column_max(bool x) {
  return column_max<down>(x ? 1.0f : 0.0f) != 0.0f;
}

/// What the row had before, and the x of its threads up to this one. before: all of them are added to it, for the next part of
/// the row.
template <int threads, class T>
PASSNET_INLINE T row_running_sum(T x, T& before) {
  constexpr int width = threads < warp_size ? threads : warp_size;
  const int lane = thread_index() % width;
#pragma unroll
  for (int step = 1; step < width; step *= 2) {
    const T below = __shfl_up_sync(0xffffffffu, x, step, width);
    if (lane >= step) x = Sum()(x, below);
  }
  const T whole = __shfl_sync(0xffffffffu, x, width - 1, width);
  if constexpr (threads <= warp_size) {
    x = Sum()(x, before);
    before = Sum()(before, whole);
  } else {
    constexpr int warps = threads / warp_size;
    __shared__ T partial[warps];
    __syncthreads();  // the part before this one has been read
    if (lane == 0) partial[thread_index() / warp_size] = whole;
    __syncthreads();
#pragma unroll
    for (int warp = 0; warp < warps; ++warp) {
      if (warp == thread_index() / warp_size) x = Sum()(x, before);
      before = Sum()(before, partial[warp]);
    }
  }
  return x;
}

}  // namespace passnet
