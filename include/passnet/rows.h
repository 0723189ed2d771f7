// Reductions: over the lanes of a vec, and over contiguous rows of any element type.
//
// Row sums run in 64 float lanes that are added pairwise at the end: the error is at most (n / 64 + 8) 2^-24
// times the sum of |x|, and about its square root in practice.
#pragma once

#include <passnet/math.h>

namespace passnet {
namespace detail {

/// Lane i of the result is lane i ^ step of x.
template <int step>
[[gnu::always_inline]] inline floats swapped(floats x) {
#ifdef PASSNET_AVX512_
  if constexpr (step == 8) return __builtin_shufflevector(x, x, 8, 9, 10, 11, 12, 13, 14, 15, 0, 1, 2, 3, 4, 5, 6, 7);
  if constexpr (step == 4) return __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3, 12, 13, 14, 15, 8, 9, 10, 11);
  if constexpr (step == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5, 10, 11, 8, 9, 14, 15, 12, 13);
  if constexpr (step == 1) return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6, 9, 8, 11, 10, 13, 12, 15, 14);
#elif defined(__AVX2__)
  if constexpr (step == 4) return __builtin_shufflevector(x, x, 4, 5, 6, 7, 0, 1, 2, 3);
  if constexpr (step == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1, 6, 7, 4, 5);
  if constexpr (step == 1) return __builtin_shufflevector(x, x, 1, 0, 3, 2, 5, 4, 7, 6);
#else
  if constexpr (step == 2) return __builtin_shufflevector(x, x, 2, 3, 0, 1);
  if constexpr (step == 1) return __builtin_shufflevector(x, x, 1, 0, 3, 2);
#endif
}
template <int step>
[[gnu::always_inline]] inline vec swapped(vec x) {
  vec out;
  for (int p = 0; p < kParts; ++p) {
    if constexpr (step >= kWidth)
      out.part[p] = x.part[p ^ step / kWidth];
    else
      out.part[p] = swapped<step>(x.part[p]);
  }
  return out;
}

template <class Combine>
[[gnu::always_inline]] inline float fold(vec x, Combine combine) {
  x = combine(x, swapped<8>(x));
  x = combine(x, swapped<4>(x));
  x = combine(x, swapped<2>(x));
  x = combine(x, swapped<1>(x));
  return x[0];
}

/// Folds value(i, lanes) over [0, n) into four independent vecs, then into one; lanes past the end are
/// `neutral`.
template <class Value, class Combine>
[[gnu::always_inline]] inline vec fold_row(int64_t n, float neutral, Value value, Combine combine) {
  // Four by name: GCC 12 would keep an array of them in memory where `value` is long.
  vec a = neutral, b = neutral, c = neutral, d = neutral;
  int64_t i = 0;
  for (; i + 4 * kLanes <= n; i += 4 * kLanes) {
    a = combine(a, value(i, kLanes));
    b = combine(b, value(i + kLanes, kLanes));
    c = combine(c, value(i + 2 * kLanes, kLanes));
    d = combine(d, value(i + 3 * kLanes, kLanes));
  }
  for (; i + kLanes <= n; i += kLanes) a = combine(a, value(i, kLanes));
  if (i < n) {
    const int lanes = static_cast<int>(n - i);
    b = combine(b, select(first_lanes(lanes), value(i, lanes), neutral));
  }
  return combine(combine(a, b), combine(c, d));
}

}  // namespace detail

/// Over the 16 lanes.
[[gnu::always_inline]] inline float sum(vec x) {
  return detail::fold(
      x, [](vec a, vec b) __attribute__((always_inline)) { return a + b; });
}
[[gnu::always_inline]] inline float max(vec x) {
  return detail::fold(
      x, [](vec a, vec b) __attribute__((always_inline)) { return max(a, b); });
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
