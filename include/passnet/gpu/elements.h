// Element types of tensors that CUDA C++ does not have without its own headers, and conversions from and to float.
#pragma once

#if defined(__CUDACC_RTC__)
// NVRTC has no system headers.
using int8_t = signed char;
using int16_t = short;
using int32_t = int;
using int64_t = long;
using uint8_t = unsigned char;
using uint16_t = unsigned short;
using uint32_t = unsigned int;
using uint64_t = unsigned long;
using size_t = unsigned long;
#else
#include <stddef.h>
#include <stdint.h>
#endif

#define PASSNET_INLINE __device__ __forceinline__

namespace passnet {

/// IEEE binary16. Converts implicitly to float, and from float with round-to-nearest-even.
struct float16 {
  uint16_t bits;

  float16() = default;
  PASSNET_INLINE float16(float value) { asm("cvt.rn.f16.f32 %0, %1;" : "=h"(bits) : "f"(value)); }
  PASSNET_INLINE operator float() const {
    float value;
    asm("cvt.f32.f16 %0, %1;" : "=f"(value) : "h"(bits));
    return value;
  }
};

/// The upper half of a float, as above.
struct bfloat16 {
  uint16_t bits;

  bfloat16() = default;
  PASSNET_INLINE bfloat16(float value) {
#if __CUDA_ARCH__ >= 800
    asm("cvt.rn.bf16.f32 %0, %1;" : "=h"(bits) : "f"(value));
#else
    const uint32_t word = __float_as_uint(value);
    bits = value != value ? uint16_t(0x7fff) : uint16_t((word + 0x7fffu + ((word >> 16) & 1u)) >> 16);
#endif
  }
  PASSNET_INLINE operator float() const { return __uint_as_float(uint32_t(bits) << 16); }
};

template <class T>
PASSNET_INLINE float to_float(T x) {
  return static_cast<float>(x);
}
/// Rounds to nearest even for floating types, towards zero for integers.
template <class T>
PASSNET_INLINE T from_float(float x) {
  return static_cast<T>(x);
}
/// x as PyTorch converts it to whole numbers on CUDA. X: float or double.
template <class T, class X>
PASSNET_INLINE int64_t truncated(X x) {
  return static_cast<T>(x);
}
template <>
PASSNET_INLINE int64_t truncated<uint8_t, float>(float x) {
  return static_cast<uint8_t>(static_cast<int64_t>(x));
}
template <>
PASSNET_INLINE int64_t truncated<uint8_t, double>(double x) {
  return static_cast<uint8_t>(static_cast<int64_t>(x));
}
/// x as it would be after being stored as T.
template <class T>
PASSNET_INLINE float rounded(float x) {
  return to_float(from_float<T>(x));
}

#if __CUDA_ARCH__ >= 800
// A pair is converted four times as fast as a single one.
template <>
PASSNET_INLINE float rounded<bfloat16>(float x) {
  uint32_t pair;
  asm("cvt.rn.bf16x2.f32 %0, 0f00000000, %1;" : "=r"(pair) : "f"(x));
  return __uint_as_float(pair << 16);
}
#endif

/// The same: what PyTorch stores as T on a GPU alone. On a CPU it is x itself.
template <class T>
PASSNET_INLINE float rounded_on_gpu(float x) {
  return rounded<T>(x);
}

/// x itself: what PyTorch stores as a T on a CPU alone.
template <class T>
PASSNET_INLINE float rounded_on_cpu(float x) {
  return x;
}

/// x / y rounded up, for x >= 0 and y > 0.
template <class Int>
__host__ __device__ constexpr Int ceil_div(Int x, Int y) {
  return (x + y - 1) / y;
}

}  // namespace passnet
