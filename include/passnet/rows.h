// Reductions: over the lanes of a vec, and over contiguous rows of any element type.
//
// Row sums run in 64 float lanes that are added pairwise at the end: the error is at most (n / 64 + 8) 2^-24
// times the sum of |x|, and about its square root in practice.
#pragma once

#include <passnet/math.h>

namespace passnet {
namespace detail {

template <class Combine>
[[gnu::always_inline]] inline float fold(vec x, Combine combine) {
#ifdef PASSNET_AVX512_
  constexpr ints swap[] = {{8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7},
                           {4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11},
                           {2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13},
                           {1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14}};
  for (int step = 0; step < 4; ++step) {
    vec other;
    other.part[0] = __builtin_shuffle(x.part[0], swap[step]);
    x = combine(x, other);
  }
  return x[0];
#else
  float lane[kLanes];
  store(lane, x);
  for (int width = kLanes / 2; width > 0; width /= 2) {
    for (int i = 0; i < width; ++i) lane[i] = combine(lane[i], lane[i + width]);
  }
  return lane[0];
#endif
}

/// Folds value(i, lanes) over [0, n) into four independent vecs, then into one; lanes past the end are
/// `neutral`.
template <class Value, class Combine>
[[gnu::always_inline]] inline vec fold_row(int64_t n, float neutral, Value value, Combine combine) {
  vec total[4] = {neutral, neutral, neutral, neutral};
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    for (int k = 0; k < 4; ++k) total[k] = combine(total[k], value(i + k * kLanes, kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) total[0] = combine(total[0], value(i, kLanes));
  if (i < n) {
    const int lanes = static_cast<int>(n - i);
    total[1] = combine(total[1], select(first_lanes(lanes), value(i, lanes), neutral));
  }
  return combine(combine(total[0], total[1]), combine(total[2], total[3]));
}

}  // namespace detail

/// Over the 16 lanes.
[[gnu::always_inline]] inline float sum(vec x) {
  return detail::fold(
      x, [](auto a, auto b) __attribute__((always_inline)) { return a + b; });
}
[[gnu::always_inline]] inline float max(vec x) {
  return detail::fold(
      x, [](auto a, auto b) __attribute__((always_inline)) { return max(a, b); });
}

/// Sum over i in [0, n) of value(i, lanes), a vec of the elements i … i + lanes - 1. For sums of what is
/// never stored:
///   const float norm = passnet::sum_of(n, [&](int64_t i, int lanes) { const auto v = load(x + i, lanes);
///   return v * v; });
template <class Value>
[[gnu::always_inline]] inline float sum_of(int64_t n, Value value) {
  return sum(detail::fold_row(
      n, 0.0f, value, [](vec a, vec b) __attribute__((always_inline)) { return a + b; }));
}
/// Largest of value(i, lanes); -inf for n = 0, NaN if any is.
template <class Value>
[[gnu::always_inline]] inline float max_of(int64_t n, Value value) {
  return max(detail::fold_row(
      n, -__builtin_inff(), value, [](vec a, vec b) __attribute__((always_inline)) { return max(a, b); }));
}

template <class T>
[[gnu::always_inline]] inline float sum(const T* x, int64_t n) {
  return sum_of(
      n, [x](int64_t i, int lanes) __attribute__((always_inline)) { return load(x + i, lanes); });
}
template <class T>
[[gnu::always_inline]] inline float max(const T* x, int64_t n) {
  return max_of(
      n, [x](int64_t i, int lanes) __attribute__((always_inline)) { return load(x + i, lanes); });
}

struct Moments {
  float mean;
  float variance;  // divided by n, as normalisation layers do
};

/// Mean and variance of value(i, lanes) in two passes: exact to a few ulp also where |mean| is far above the
/// spread.
template <class Value>
[[gnu::always_inline]] inline Moments moments_of(int64_t n, Value value) {
  const float scale = 1.0f / static_cast<float>(n);
  const float mean = sum_of(n, value) * scale;
  const float squares = sum_of(
      n, [&](int64_t i, int lanes) __attribute__((always_inline)) {
        const vec d = value(i, lanes) - mean;
        return d * d;
      });
  return {mean, squares * scale};
}
template <class T>
[[gnu::always_inline]] inline Moments moments(const T* x, int64_t n) {
  return moments_of(
      n, [x](int64_t i, int lanes) __attribute__((always_inline)) { return load(x + i, lanes); });
}

}  // namespace passnet
