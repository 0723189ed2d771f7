// Mean and squares of rows that threads have in registers, added up in the order of PyTorch's own kernels: a norm then gives what
// theirs gives, bit by bit.
#pragma once

#include <passnet/gpu/threads.h>

namespace passnet {

/// Of a row: its mean, and the sum of squared distances from it.
struct RowMoments {
  float mean, squares;
};

namespace detail {

/// Those of `count` elements, which grow one by one.
struct RunningMoments {
  float mean = 0.0f, squares = 0.0f, count = 0.0f;
};

/// Runs `combine` on the moments of neighbouring threads of a warp, over ever shorter steps; lane 0 gets the result.
template <class Combine>
PASSNET_INLINE RunningMoments warp_moments(RunningMoments own, int longest, Combine combine) {
#pragma unroll
  for (int step = longest; step > 0; step /= 2) {
    const RunningMoments other{__shfl_down_sync(0xffffffffu, own.mean, step),
                               __shfl_down_sync(0xffffffffu, own.squares, step),
                               __shfl_down_sync(0xffffffffu, own.count, step)};
    own = combine(own, other);
  }
  return own;
}

/// Of the row in the order of memory: in two passes.
template <int threads, int64_t n, int parts, int pack>
PASSNET_INLINE RowMoments moments_in_two_passes(const float (&x)[parts][pack], int thread) {
  const auto total = [&](auto of) {
    float sum = 0.0f;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if ((part * threads + thread) * pack >= n) break;
#pragma unroll
      for (int lane = 0; lane < pack; ++lane) sum = sum + of(x[part][lane]);
    }
    return row_sum<threads>(sum);
  };
  const float mean = total([](float value) { return value; }) / float(n);
  return {mean, total([&](float value) { return (value - mean) * (value - mean); })};
}

}  // namespace detail

/// As torch.nn.functional.layer_norm on CUDA, which has 128 threads for a row, each with four neighbours at a time: here a thread
/// stands for as many of these as it takes. x: of a thread, element `lane` of part p is number
/// (p * threads + thread) * pack + lane of the row; past its end it is not looked at. Where a thread does not have four
/// neighbours each time the order is another one. Source: Welford, "Note on a method for calculating corrected sums of squares
/// and products"; Chan, Golub and LeVeque for combining.
template <int threads, int64_t n, int parts, int pack>
PASSNET_INLINE RowMoments layer_norm_moments(const float (&x)[parts][pack], int thread) {
  using detail::RunningMoments;
  if constexpr (pack != 4 || threads > 128) {
    return detail::moments_in_two_passes<threads, n>(x, thread);
  } else {
    const auto combine = [](const RunningMoments& b, const RunningMoments& a) {
      const float delta = b.mean - a.mean, count = a.count + b.count;
      if (count <= 0.0f) return RunningMoments{};
      const float inverse = 1.0f / count, share_a = a.count * inverse, share_b = b.count * inverse;
      return RunningMoments{::fmaf(share_a, a.mean, share_b * b.mean),
                            ::fmaf(delta * delta * a.count, share_b, a.squares + b.squares), count};
    };
    constexpr int stands_for = 128 / threads;
    constexpr int width = threads < warp_size ? threads : warp_size;  // of the row in a warp
    constexpr int of_warp = warp_size / width;
    RunningMoments own[stands_for];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if ((part * threads + thread) * pack >= n) break;
      RunningMoments& one = own[part % stands_for];
#pragma unroll
      for (int lane = 0; lane < pack; ++lane) {
        const float value = x[part][lane], delta = value - one.mean;
        one.count += 1.0f;
        one.mean = ::fmaf(delta, 1.0f / one.count, one.mean);
        one.squares = ::fmaf(delta, value - one.mean, one.squares);
      }
    }
    // PyTorch's warps, of which each thread has all, or its own.
    constexpr int warps = 4, own_warps = stands_for / of_warp;
    RunningMoments warp[warps];
#pragma unroll
    for (int w = 0; w < own_warps; ++w) {
      RunningMoments* const first = own + w * of_warp;
#pragma unroll
      for (int step = of_warp / 2; step > 0; step /= 2) {
#pragma unroll
        for (int i = 0; i < step; ++i) first[i] = combine(first[i], first[i + step]);
      }
      warp[w] = detail::warp_moments(first[0], width / 2, combine);
    }
    if constexpr (threads > warp_size) {
      constexpr int beside = threads / warp_size;
      __shared__ RunningMoments shared[warps];
      __syncthreads();  // those of the row before have been read
      if (thread % warp_size == 0) {
#pragma unroll
        for (int w = 0; w < own_warps; ++w) shared[w * beside + thread / warp_size] = warp[w];
      }
      __syncthreads();
#pragma unroll
      for (int w = 0; w < warps; ++w) warp[w] = shared[w];
    }
    const RunningMoments all = combine(combine(warp[0], warp[2]), combine(warp[1], warp[3]));
    if constexpr (threads > warp_size) return {all.mean, all.squares};
    return {__shfl_sync(0xffffffffu, all.mean, 0, width), __shfl_sync(0xffffffffu, all.squares, 0, width)};
  }
}

/// As torch.nn.functional.group_norm on CUDA, which has a warp for a row, or 512 threads where it has as many elements, and each
/// thread every 32nd or 512th of these. x: of a thread, part p is element p * threads + thread of the row.
template <int threads, int64_t n, int parts>
PASSNET_INLINE RowMoments group_norm_moments(const float (&x)[parts], int thread) {
  using detail::RunningMoments;
  const auto combine = [](const RunningMoments& a, const RunningMoments& b) {
    if (a.count == 0.0f) return b;
    if (b.count == 0.0f) return a;
    const float delta = b.mean - a.mean, count = a.count + b.count, share = b.count / count;
    return RunningMoments{::fmaf(delta, share, a.mean), ::fmaf(delta * delta * a.count, share, a.squares + b.squares),
                          count};
  };
  RunningMoments own;
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    if (part * threads + thread >= n) break;
    const float value = x[part], delta = value - own.mean;
    own.count += 1.0f;
    own.mean = own.mean + delta / own.count;
    own.squares = ::fmaf(delta, value - own.mean, own.squares);
  }
  own = detail::warp_moments(own, warp_size / 2, combine);
  if constexpr (threads > warp_size) {
    constexpr int warps = threads / warp_size;
    __shared__ RunningMoments shared[warps];
    __syncthreads();  // those of the row before have been read
    if (thread % warp_size == 0) shared[thread / warp_size] = own;
    __syncthreads();
    own = detail::warp_moments(thread % warp_size < warps ? shared[thread % warp_size] : RunningMoments{},
                               warp_size / 2, combine);
  }
  return {__shfl_sync(0xffffffffu, own.mean, 0), __shfl_sync(0xffffffffu, own.squares, 0)};
}

}  // namespace passnet
