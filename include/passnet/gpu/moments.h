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

/// Whether element i of a row of n, which is in a part that ends before `end`, is none: known when a kernel is compiled but for the
/// last part.
PASSNET_INLINE bool is_past(int64_t n, int64_t end, int64_t i) { return end > n && i >= n; }

/// x / n for n > 0, rounded as that is but where it is next to zero. Source: Markstein, "Computation of elementary functions on the
/// IBM RISC System/6000 processor".
PASSNET_INLINE float divided_by(float x, int n) {
  const float inverse = 1.0f / float(n), near = x * inverse;
  return ::fmaf(::fmaf(-near, float(n), x), inverse, near);
}

/// Of the row in the order of memory: in two passes.
template <int threads, int64_t n, int parts, int pack>
PASSNET_INLINE RowMoments moments_in_two_passes(const float (&x)[parts][pack], int thread) {
  const auto total = [&](auto of) {
    float sum = 0.0f;
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if (is_past(n, (part + 1) * threads * pack, (part * threads + thread) * pack)) break;
#pragma unroll
      for (int lane = 0; lane < pack; ++lane) sum = sum + of(x[part][lane]);
    }
    return row_sum<threads>(sum);
  };
  const float mean = total([](float value) { return value; }) / float(n);
  return {mean, total([&](float value) { return (value - mean) * (value - mean); })};
}

/// Lanes of a warp combine what they have with that of the lanes `step` on, for ever shorter steps; only lanes below the step go on.
/// Counts::of(warp, lane): how many elements a lane begins with, which is known when a kernel is compiled.
template <class Counts>
struct Lanes {
  /// What a lane has before it combines over that step.
  PASSNET_INLINE static constexpr int before(int warp, int step, int lane) {
    int count = 0;
    for (int from = lane; from < warp_size; from += 2 * step) count += Counts::of(warp, from);
    return count;
  }
  PASSNET_INLINE static constexpr int in_warp(int warp) { return before(warp, 1, 0) + before(warp, 1, 1); }
  /// Whether all lanes that go on combine as many with as many, in `count` warps from that one on.
  PASSNET_INLINE static constexpr bool are_alike(int first, int count, int step) {
    for (int warp = first; warp < first + count; ++warp) {
      for (int lane = 0; lane < step; ++lane) {
        if (before(warp, step, lane) != before(first, step, 0)) return false;
        if (before(warp, step, lane + step) != before(first, step, step)) return false;
      }
    }
    return true;
  }

  /// Over that step, in one of `count` warps from `first` on. combine: of two moments and how many elements each is of.
  template <int first, int count, int step, class Combine>
  PASSNET_INLINE static RunningMoments combined(const RunningMoments& own, const RunningMoments& other,
                                                Combine combine) {
    if constexpr (are_alike(first, count, step)) {
      constexpr int of_own = before(first, step, 0), of_other = before(first, step, step);
      return combine(own, other, float(of_own), float(of_other));
    } else {
      return combine(own, other, own.count, other.count);
    }
  }

  /// Over steps from `step` on down to 1; lane 0 gets the result.
  template <int first, int count, int step, class Combine>
  PASSNET_INLINE static RunningMoments folded(const RunningMoments& own, Combine combine) {
    if constexpr (step == 0) {
      return own;
    } else {
      RunningMoments other{__shfl_down_sync(0xffffffffu, own.mean, step),
                           __shfl_down_sync(0xffffffffu, own.squares, step), 0.0f};
      if constexpr (!are_alike(first, count, step)) other.count = __shfl_down_sync(0xffffffffu, own.count, step);
      return folded<first, count, step / 2>(combined<first, count, step>(own, other, combine), combine);
    }
  }
};

/// PyTorch's 128 threads have each 128th of the runs of four neighbours in a row of n.
template <int64_t n>
struct LayerNormCounts {
  PASSNET_INLINE static constexpr int of(int warp, int lane) {
    const int64_t runs = n / 4 - (warp * warp_size + lane);
    return runs > 0 ? int(ceil_div(runs, int64_t(128))) * 4 : 0;
  }
};

struct CombineForLayerNorm {
  PASSNET_INLINE RunningMoments operator()(const RunningMoments& b, const RunningMoments& a, float of_b,
                                           float of_a) const {
    const float count = of_a + of_b;
    if (count <= 0.0f) return RunningMoments{};
    const float delta = b.mean - a.mean, inverse = 1.0f / count, share_a = of_a * inverse, share_b = of_b * inverse;
    return RunningMoments{::fmaf(share_a, a.mean, share_b * b.mean),
                          ::fmaf(delta * delta * of_a, share_b, a.squares + b.squares), count};
  }
};

/// Over PyTorch's lanes that a thread stands for, `width` apart, down to the first of them.
template <int64_t n, int warp, int width, int of_warp>
PASSNET_INLINE void fold_own_lanes(RunningMoments* lanes) {
  if constexpr (of_warp > 1) {
    constexpr int half = of_warp / 2;
#pragma unroll
    for (int i = 0; i < half; ++i)
      lanes[i] = Lanes<LayerNormCounts<n>>::template combined<warp, 1, half * width>(lanes[i], lanes[i + half],
                                                                                     CombineForLayerNorm());
    fold_own_lanes<n, warp, width, half>(lanes);
  }
}

/// Of PyTorch's warps those from number w on that a thread has lanes of: `beside` warps of threads have as many each.
template <int64_t n, int width, int beside, int w, int own_warps>
PASSNET_INLINE void fold_warps(RunningMoments* own, RunningMoments* warp) {
  if constexpr (w < own_warps) {
    using OfRow = Lanes<LayerNormCounts<n>>;
    constexpr int of_warp = warp_size / width;
    if constexpr (OfRow::in_warp(w * beside) > 0) {
      fold_own_lanes<n, w, width, of_warp>(own + w * of_warp);
      warp[w] = OfRow::template folded<w * beside, beside, width / 2>(own[w * of_warp], CombineForLayerNorm());
    }
    fold_warps<n, width, beside, w + 1, own_warps>(own, warp);
  }
}

/// Threads have each `threads`-th element of a row of n.
template <int64_t n, int threads>
struct GroupNormCounts {
  PASSNET_INLINE static constexpr int of(int warp, int lane) {
    const int64_t left = n - (warp * warp_size + lane);
    return left > 0 ? int(ceil_div(left, int64_t(threads))) : 0;
  }
};
/// What the warps have, of which each lane has one.
template <int64_t n, int threads>
struct GroupNormCountsOfWarps {
  PASSNET_INLINE static constexpr int of(int, int lane) {
    return lane < threads / warp_size ? Lanes<GroupNormCounts<n, threads>>::in_warp(lane) : 0;
  }
};

struct CombineForGroupNorm {
  PASSNET_INLINE RunningMoments operator()(const RunningMoments& a, const RunningMoments& b, float of_a,
                                           float of_b) const {
    if (of_a == 0.0f) return b;
    if (of_b == 0.0f) return a;
    const float delta = b.mean - a.mean, count = of_a + of_b, share = of_b / count;
    return RunningMoments{::fmaf(delta, share, a.mean), ::fmaf(delta * delta * of_a, share, a.squares + b.squares),
                          count};
  }
};

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
    using Lanes = detail::Lanes<detail::LayerNormCounts<n>>;
    constexpr int warps = 4;
    constexpr int stands_for = 128 / threads;
    constexpr int width = threads < warp_size ? threads : warp_size;       // of the row in a warp
    constexpr int beside = threads > warp_size ? threads / warp_size : 1;  // warps of the row
    RunningMoments own[stands_for];
#pragma unroll
    for (int part = 0; part < parts; ++part) {
      if (detail::is_past(n, (part + 1) * threads * pack, (part * threads + thread) * pack)) break;
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
    constexpr int own_warps = warps / beside;
    RunningMoments warp[warps];
    detail::fold_warps<n, width, beside, 0, own_warps>(own, warp);
    if constexpr (threads > warp_size) {
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
    constexpr float count[warps] = {float(Lanes::in_warp(0)), float(Lanes::in_warp(1)), float(Lanes::in_warp(2)),
                                    float(Lanes::in_warp(3))};
    const detail::CombineForLayerNorm combine;
    const RunningMoments all =
        combine(combine(warp[0], warp[2], count[0], count[2]), combine(warp[1], warp[3], count[1], count[3]),
                count[0] + count[2], count[1] + count[3]);
    if constexpr (threads > warp_size) return {all.mean, all.squares};
    return {__shfl_sync(0xffffffffu, all.mean, 0, width), __shfl_sync(0xffffffffu, all.squares, 0, width)};
  }
}

/// As torch.nn.functional.group_norm on CUDA, which has a warp for a row, or 512 threads where it has as many elements, and each
/// thread every 32nd or 512th of these. x: of a thread, part p is element p * threads + thread of the row.
template <int threads, int64_t n, int parts>
PASSNET_INLINE RowMoments group_norm_moments(const float (&x)[parts], int thread) {
  using detail::RunningMoments;
  using Lanes = detail::Lanes<detail::GroupNormCounts<n, threads>>;
  constexpr int warps = threads / warp_size;
  const detail::CombineForGroupNorm combine;
  RunningMoments own;
#pragma unroll
  for (int part = 0; part < parts; ++part) {
    if (detail::is_past(n, (part + 1) * threads, part * threads + thread)) break;
    const float value = x[part], delta = value - own.mean;
    own.count += 1.0f;
    own.mean = own.mean + detail::divided_by(delta, part + 1);
    own.squares = ::fmaf(delta, value - own.mean, own.squares);
  }
  own = Lanes::template folded<0, warps, warp_size / 2>(own, combine);
  if constexpr (warps > 1) {
    using OfWarps = detail::Lanes<detail::GroupNormCountsOfWarps<n, threads>>;
    __shared__ RunningMoments shared[warps];
    __syncthreads();  // those of the row before have been read
    if (thread % warp_size == 0) shared[thread / warp_size] = own;
    __syncthreads();
    own = OfWarps::template folded<0, 1, warp_size / 2>(
        thread % warp_size < warps ? shared[thread % warp_size] : RunningMoments{}, combine);
  }
  return {__shfl_sync(0xffffffffu, own.mean, 0), __shfl_sync(0xffffffffu, own.squares, 0)};
}

}  // namespace passnet
