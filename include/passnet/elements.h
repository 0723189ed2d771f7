// Element types of tensors that C++ does not have, and conversions between any element type and float.
#pragma once

#include <stddef.h>
#include <stdint.h>

namespace passnet {

/// IEEE binary16. Arithmetic on it is allowed; converting to float, computing there and converting back once
/// is both faster and what PyTorch does.
using float16 = _Float16;

namespace detail {
[[gnu::always_inline]] constexpr int32_t bits(float x) { return __builtin_bit_cast(int32_t, x); }
[[gnu::always_inline]] constexpr float from_bits(int32_t x) { return __builtin_bit_cast(float, x); }
}  // namespace detail

/// The upper half of a float. Converts implicitly to float, and from float with round-to-nearest-even, NaN to
/// NaN.
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  [[gnu::always_inline]] constexpr bfloat16(float value) : bits(round(value)) {}
  [[gnu::always_inline]] constexpr operator float() const { return detail::from_bits(int32_t(uint32_t(bits) << 16)); }

 private:
  [[gnu::always_inline]] static constexpr uint16_t round(float value) {
    const uint32_t word = uint32_t(detail::bits(value));
    return value != value ? uint16_t(0x7fc0) : uint16_t((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
  }
};

template <class T>
[[gnu::always_inline]] constexpr float to_float(T x) {
  return static_cast<float>(x);
}
/// Rounds to nearest even for floating types, towards zero for integers.
template <class T>
[[gnu::always_inline]] constexpr T from_float(float x) {
  return static_cast<T>(x);
}

/// x as PyTorch converts it to whole numbers on a CPU: towards zero, by way of a wider type whose smallest number stands for NaN
/// and for what it does not hold. X: float or double.
template <class T, class X>
[[gnu::always_inline]] constexpr int64_t truncated(X x) {
  constexpr bool is_narrow = sizeof(X) == 4;
  if constexpr (__is_same(T, int64_t) || __is_same(T, uint8_t)) {
    return T(x >= X(-0x1p63) && x < X(0x1p63) ? int64_t(x) : int64_t(uint64_t(1) << 63));
  } else {
    constexpr X below = is_narrow ? X(-0x1.000002p31) : X(-0x1p31 - 1);
    return T(x > below && x < X(0x1p31) ? int32_t(x) : int32_t(uint32_t(1) << 31));
  }
}

/// x as it would be after being stored as T: what PyTorch computes with after an intermediate value.
template <class T>
[[gnu::always_inline]] inline float rounded(float x) {
  float stored = to_float(from_float<T>(x));
#if defined(__AVX512FP16__)
  // With arithmetic on halves at hand the compiler would make one fma of a product and a sum that are rounded apart.
  if constexpr (__is_same(T, float16)) asm("" : "+v"(stored));
#endif
  return stored;
}

/// Sizes up to this are rounded to 0: half of the smallest T.
template <class T>
constexpr float kRoundedToZero = 0;
template <>
inline constexpr float kRoundedToZero<float16> = 0x1p-25f;
template <>
inline constexpr float kRoundedToZero<bfloat16> = 0x1p-134f;

/// For a value that is stored as a T, which then is relu(rounded<T>(x)), also where that is -0: x need not be rounded before.
template <class T>
[[gnu::always_inline]] inline float relu_before_rounding(float x) {
  return x < -kRoundedToZero<T> ? 0.0f : x;
}

/// x itself: what PyTorch stores as a T on a GPU alone, where this rounds it.
template <class T>
[[gnu::always_inline]] inline float rounded_on_gpu(float x) {
  return x;
}

/// rounded<T>(x): what PyTorch stores as a T on a CPU alone.
template <class T>
[[gnu::always_inline]] inline float rounded_on_cpu(float x) {
  return rounded<T>(x);
}

/// x / y rounded up, for x >= 0 and y > 0.
constexpr int64_t ceil_div(int64_t x, int64_t y) { return (x + y - 1) / y; }

}  // namespace passnet
