// Sums of products over many steps where one side has few rows: lanes go along the steps, as turning what is multiplied by so few
// would take as long as multiplying.
#pragma once

#include <passnet/vec.h>

namespace passnet::detail {

/// Steps of a sum that are taken at once, and rows that are kept for all rows of the other side.
constexpr int64_t kDotSteps = 1024, kMostFew = kHasMatrixUnit ? 8 : 32;
/// From one row that is kept to the next: of a power of two they would share the same few places of a cache.
constexpr int64_t kDotPitch = kDotSteps + kLanes;

/// Which side of a product of rows x columns has so few that they are not worth turning for that many steps.
enum class Few { Neither, Rows, Columns };
constexpr Few few_of(int64_t rows, int64_t columns, int64_t steps) {
  const auto is_few = [&](int64_t n) { return n > 0 && n <= kMostFew && n * 8 <= steps; };
  return rows <= columns && is_few(rows) ? Few::Rows : is_few(columns) ? Few::Columns : Few::Neither;
}

/// Sums over n steps of each of `few` rows times each of `many`, kWidth together: sum i of row j of the many is in lane
/// j * few + i.
template <int few, int many, class T>
[[gnu::always_inline]] inline floats dots(const float* const (&x)[few], const T* const (&y)[many], int64_t n) {
  static_assert(few * many == kWidth);
  floats total[kWidth] = {};
  const auto add = [&](auto part) __attribute__((always_inline)) {
    floats of_few[few];
#pragma GCC unroll 16
    for (int i = 0; i < few; ++i) {
      of_few[i] = part(x[i]);
      keep_in_register(of_few[i]);  // else the compiler reads it again for each product
    }
#pragma GCC unroll 16
    for (int j = 0; j < many; ++j) {
      floats of_many = part(y[j]);
      keep_in_register(of_many);
#pragma GCC unroll 16
      for (int i = 0; i < few; ++i) total[j * few + i] += of_few[i] * of_many;
    }
  };
  int64_t k = 0;
  for (; k + kWidth <= n; k += kWidth)
    add([k](const auto* from) __attribute__((always_inline)) { return load_part(from + k); });
  if (const int rest = static_cast<int>(n - k); rest > 0)
    add([ k, rest ](const auto* from) __attribute__((always_inline)) { return load(from + k, rest).part[0]; });
  transpose(total);
  for (int run = kWidth / 2; run > 0; run /= 2) {
#pragma GCC unroll 16
    for (int i = 0; i < run; ++i) total[i] += total[i + run];
  }
  return total[0];
}

/// Where the sums of row i of the few and row j of the many are: at [i * of_few + j * of_many].
struct DotSums {
  float* sums;
  int64_t of_few, of_many;
};

/// Adds what n steps of the first `few` of kFew kept rows, and of all of the many, come to. at(j): row j of these.
template <int kFew, class At>
[[gnu::always_inline]] inline void add_dots(const float* kept, int64_t few, int64_t many, const At& at, int64_t n,
                                            const DotSums& out) {
  constexpr int kMany = kWidth / kFew;
  const float* x[kFew];
  for (int i = 0; i < kFew; ++i) x[i] = kept + (i < few ? i : 0) * kDotPitch;
  for (int64_t first = 0; first < many; first += kMany) {
    decltype(at(0)) y[kMany];
    for (int j = 0; j < kMany; ++j) y[j] = at(first + j < many ? first + j : first);
    float total[kWidth];
    store_part(total, dots(x, y, n));
    for (int j = 0; j < kMany && first + j < many; ++j) {
      for (int i = 0; i < kFew && i < few; ++i)
        out.sums[i * out.of_few + (first + j) * out.of_many] += total[j * kFew + i];
    }
  }
}

/// The same over all steps, of up to kMostFew rows. few_at(i, k), many_at(j, k): where step k of a row lies, before its next one.
template <class FewAt, class ManyAt>
inline void add_all_dots(int64_t few, const FewAt& few_at, int64_t many, const ManyAt& many_at, int64_t steps,
                         const DotSums& out) {
  constexpr int kSide = kWidth == 16 ? 4 : 2;
  alignas(64) float kept[kMostFew * kDotPitch];
  for (int64_t begin = 0; begin < steps; begin += kDotSteps) {
    const int64_t n = steps - begin < kDotSteps ? steps - begin : kDotSteps;
    for (int64_t i = 0; i < few; ++i) to_floats(few_at(i, begin), n, kept + i * kDotPitch);
    const auto at = [&](int64_t j) __attribute__((always_inline)) { return many_at(j, begin); };
    for (int64_t i = 0; i < few;) {
      const float* const from = kept + i * kDotPitch;
      const DotSums to{out.sums + i * out.of_few, out.of_few, out.of_many};
      if (few - i > kSide / 2) {
        add_dots<kSide>(from, few - i, many, at, n, to);
        i += kSide;
      } else {
        add_dots<1>(from, 1, many, at, n, to);
        ++i;
      }
    }
  }
}

}  // namespace passnet::detail
