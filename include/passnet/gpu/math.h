// Math on floats. Each function is as exact as PyTorch's own on CUDA or closer (a few ulp), NaN and infinities kept,
// unless its name starts with fast_.
#pragma once

#include <passnet/gpu/elements.h>

namespace passnet {

// CUDA's own: given a float, each computes in float.
using ::abs;
using ::cos;
using ::erf;
using ::exp;
using ::expm1;
using ::fma;
using ::log;
using ::log1p;
using ::pow;
using ::rsqrt;
using ::sin;
using ::sqrt;
using ::tanh;

/// e^x to 2 ulp + |x| ulp/2: for softmax, where x <= 0.
PASSNET_INLINE float fast_exp(float x) { return ::__expf(x); }
/// a / b to 2 ulp, for |b| below 2^126.
PASSNET_INLINE float fast_divide(float a, float b) { return ::__fdividef(a, b); }

/// a / b without a branch, for many a that are divided by one b, whose inverse the compiler then computes once. Rounded as
/// a / b is, but for results and a below 2^-100, and results beyond 2^100, which may be off by one ulp. Source: Markstein,
/// "Computation of elementary functions on the IBM RISC System/6000 processor".
PASSNET_INLINE float divide(float a, float b) {
  // Neither inverse nor remainder may leave the normal numbers.
  const float scale = ::fabsf(b) < 0x1p-100f ? 0x1p64f : ::fabsf(b) > 0x1p100f ? 0x1p-64f : 1.0f;
  const float by = b * scale, of = a * scale, inverse = 1.0f / by, near = of * inverse;
  const float exact = ::fmaf(::fmaf(-by, near, of), inverse, near);
  const bool is_usual = ::fabsf(of) >= 0x1p-100f && ::fabsf(near) >= 0x1p-100f && ::fabsf(near) <= 0x1p100f;
  return is_usual ? exact : near;
}

/// a b, rounded before anything is added to it. (The compiler makes one fma of `a * b + c`; where the two are operators
/// of their own, PyTorch rounds in between.)
PASSNET_INLINE float multiply(float a, float b) { return ::__fmul_rn(a, b); }

/// The larger and the smaller; NaN if either is, as in torch. (CUDA's own max and min drop NaN.)
#if __CUDA_ARCH__ >= 800
PASSNET_INLINE float maximum(float a, float b) {
  float larger;
  asm("max.NaN.f32 %0, %1, %2;" : "=f"(larger) : "f"(a), "f"(b));
  return larger;
}
PASSNET_INLINE float minimum(float a, float b) {
  float smaller;
  asm("min.NaN.f32 %0, %1, %2;" : "=f"(smaller) : "f"(a), "f"(b));
  return smaller;
}
#else
PASSNET_INLINE float maximum(float a, float b) { return a > b || a != a ? a : b; }
PASSNET_INLINE float minimum(float a, float b) { return a < b || a != a ? a : b; }
#endif
/// x held to [low, high]; NaN stays.
PASSNET_INLINE float clamp(float x, float low, float high) { return x < low ? low : x > high ? high : x; }

/// a - floor(a / b) b, exact before the last rounding, as torch.remainder.
PASSNET_INLINE float floor_remainder(float a, float b) {
  const float rest = ::fmodf(a, b);
  return rest != 0.0f && (b < 0.0f) != (rest < 0.0f) ? rest + b : rest;
}
/// The number of whole b in a, rounded down, as torch.floor_divide, which rounds each step to T.
template <class T = float>
PASSNET_INLINE float floor_divide(float a, float b) {
  if (b == 0.0f) return a / b;
  const float rest = ::fmodf(a, b);
  float quotient = rounded<T>(rounded<T>(a - rest) / b);
  if (rest != 0.0f && (b < 0.0f) != (rest < 0.0f)) quotient = rounded<T>(quotient - 1.0f);
  if (quotient == 0.0f) return ::copysignf(0.0f, a / b);
  const float whole = ::floorf(quotient);
  return rounded<T>(quotient - whole) > 0.5f ? whole + 1.0f : whole;
}

/// The variance of `count` elements whose squared distances from their mean are summed up.
template <class T>
PASSNET_INLINE float instance_variance(float sum, float count) {
  return sum / count;
}

/// torch.nn.functional.batch_norm, as PyTorch computes it on CUDA. inverse: of the deviation, rsqrt(variance + eps).
PASSNET_INLINE float batch_normalized(float x, float mean, float inverse, float weight, float bias) {
  return ::fmaf(weight * (x - mean), inverse, bias);
}

PASSNET_INLINE float relu(float x) { return x < 0.0f ? 0.0f : x; }
PASSNET_INLINE float sigmoid(float x) { return 1.0f / (1.0f + ::expf(-x)); }
PASSNET_INLINE float silu(float x) { return x / (1.0f + ::expf(-x)); }
/// x Phi(x), as torch.nn.functional.gelu; for every T the same.
template <class T = float>
PASSNET_INLINE float gelu(float x) {
  return 0.5f * x * (1.0f + ::erff(x * 0.70710678118654752f));
}
PASSNET_INLINE float gelu_tanh(float x) {
  return 0.5f * x * (1.0f + ::tanhf(0.79788456080286536f * (x + 0.044715f * x * x * x)));
}
// Multiplied, as PyTorch does on CUDA, not divided by 6.
PASSNET_INLINE float hardsigmoid(float x) { return clamp(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f); }
PASSNET_INLINE float hardswish(float x) { return x * clamp(x + 3.0f, 0.0f, 6.0f) * (1.0f / 6.0f); }
/// log(1 + exp(beta x)) / beta, and x where beta x > threshold, as torch.nn.functional.softplus.
PASSNET_INLINE float softplus(float x, float beta = 1.0f, float threshold = 20.0f) {
  return beta * x > threshold ? x : ::log1pf(::expf(beta * x)) / beta;
}

}  // namespace passnet
