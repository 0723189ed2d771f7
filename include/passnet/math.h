// Branch-free math for float and vec, one text for both; double goes to libm.
//
// Errors are the largest found on a sweep of 116 million floats over the whole range (every 37th) against
// libm in double, with FMA, in units of the last place of the result. NaN gives NaN, infinities give the
// limit.
//   exp 1.1   expm1 1.5   log 0.8   log1p 1.5   tanh 1.4   erf 1.2   sqrt 0.5   rsqrt 1.5   sigmoid 2.5 and
//   silu 2.3 (x > -88; below it exp(-x) is infinite, as in PyTorch)   softplus 2.8   hardswish 2.3
//   sin, cos 1.5   gelu, gelu_tanh: at most 1.5e-7 max(1, |x|) (gelu of halves 2e-7),
//   so not small against results near zero; PyTorch's formula has the same
// Sources: argument reduction after Cody and Waite; polynomials are our own minimax fits.
#pragma once

#include <passnet/erf_pieces.h>
#include <passnet/vec.h>

namespace passnet {
namespace detail {

// F is float or floats; comparisons give bool or ints, and ?: chooses per lane.
template <class F>
using ints_of = decltype(bits(F()));

[[gnu::always_inline]] inline float convert(int32_t x) { return static_cast<float>(x); }
[[gnu::always_inline]] inline floats convert(ints x) { return __builtin_convertvector(x, floats); }

template <class F>
[[gnu::always_inline]] inline F abs_of(F x) {
  return from_bits(bits(x) & 0x7fffffff);
}
/// |x| with the sign of y.
template <class F>
[[gnu::always_inline]] inline F with_sign(F x, F y) {
  return from_bits((bits(x) & 0x7fffffff) | (bits(y) & int32_t(0x80000000)));
}
/// 2^n for -126 <= n <= 127.
template <class I>
[[gnu::always_inline]] inline auto power_of_two(I n) {
  return from_bits((n + 127) << 23);
}

/// Polynomial, lowest coefficient first, by Horner's rule.
template <class F>
[[gnu::always_inline]] inline F polynomial(F, float c) {
  return F{} + c;
}
template <class F, class... C>
[[gnu::always_inline]] inline F polynomial(F x, float c, C... higher) {
  return polynomial(x, higher...) * x + c;
}

constexpr float kRounder = 12582912.0f;  // 1.5 * 2^23: adding it rounds |x| < 2^22 to an integer in the low bits
constexpr int32_t kRounderBits = 0x4b400000;

/// e^r - 1 for |r| <= ln 2 / 2.
template <class F>
[[gnu::always_inline]] inline F small_power(F r) {
  return r + r * r * polynomial(r, 0.5f, 0.166665345f, 0.0416672379f, 0.00836748257f, 0.00138637808f);
}

/// x = n ln 2 + r; returns n, and leaves e^r - 1 in `power`.
template <class F>
[[gnu::always_inline]] inline ints_of<F> reduce_exp(F x, F& power) {
  const F shifted = x * 1.44269504f + kRounder;
  const F n = shifted - kRounder;
  power = small_power((x - n * 0.693145752f) - n * 1.42860677e-06f);
  return bits(shifted) - kRounderBits;
}
/// x = n + r; returns n, and leaves 2^r - 1 in `power`.
template <class F>
[[gnu::always_inline]] inline ints_of<F> reduce_power(F x, F& power) {
  const F shifted = x + kRounder;
  power = small_power((x - (shifted - kRounder)) * 0.693147181f);
  return bits(shifted) - kRounderBits;
}

/// The larger and the smaller of x and a number; NaN stays.
template <class F>
[[gnu::always_inline]] inline F at_least(F x, float low) {
  return x < low ? F{} + low : x;
}
template <class F>
[[gnu::always_inline]] inline F at_most(F x, float high) {
  return x > high ? F{} + high : x;
}
// One instruction each, which GCC 12 would not take; where one operand is NaN it gives the second.
#if defined(PASSNET_AVX512_)
[[gnu::always_inline]] inline floats at_least(floats x, float low) {
  return __builtin_ia32_maxps512_mask(floats{} + low, x, x, -1, 4);
}
[[gnu::always_inline]] inline floats at_most(floats x, float high) {
  return __builtin_ia32_minps512_mask(floats{} + high, x, x, -1, 4);
}
#elif defined(__AVX2__)
[[gnu::always_inline]] inline floats at_least(floats x, float low) {
  return __builtin_ia32_maxps256(floats{} + low, x);
}
[[gnu::always_inline]] inline floats at_most(floats x, float high) {
  return __builtin_ia32_minps256(floats{} + high, x);
}
#endif

/// e^x for -86 <= x <= 89.
template <class F>
[[gnu::always_inline]] inline F normal_exp(F x) {
  F power;
  const auto n = reduce_exp(x, power);
  return (2.0f * power + 2.0f) * power_of_two(n - 1);  // n may be 128
}

/// e^x for x <= 89.
template <class F>
[[gnu::always_inline]] inline F bounded_exp(F x) {
  F power;
  const auto n = reduce_exp(at_least(x, -104.0f), power);
  const auto half = n >> 1;  // two factors: one alone leaves the range of float near both ends
  return (power + 1.0f) * power_of_two(half) * power_of_two(n - half);
}

#ifdef PASSNET_AVX512_
[[gnu::always_inline]] inline floats normal_exp(floats x) {
  const floats n = x * 1.44269504f + kRounder - kRounder;
  const floats power = small_power((x - n * 0.693145752f) - n * 1.42860677e-06f);
  return __builtin_ia32_scalefps512_mask(power + 1.0f, n, x, -1, 4);
}
[[gnu::always_inline]] inline floats bounded_exp(floats x) { return normal_exp(at_least(x, -104.0f)); }
#endif

template <class F>
[[gnu::always_inline]] inline F exp(F x) {
  return bounded_exp(at_most(x, 89.0f));
}

template <class F>
[[gnu::always_inline]] inline F expm1(F x) {
  F power;
  const auto n = reduce_exp(at_least(at_most(x, 89.0f), -18.0f), power);
  const F half = power_of_two(n - 1);
  const F result = 2.0f * (half * power + (half - 0.5f));
  return x == 0.0f ? x : result;  // keeps -0
}

template <class F>
[[gnu::always_inline]] inline F log(F x) {
  constexpr int32_t kRootHalf = 0x3f3504f3;  // sqrt(1/2), the lower end of the mantissas
  const auto subnormal = x < 1.17549435e-38f;
  const auto word = bits(subnormal ? x * 8388608.0f : x) - kRootHalf;
  const F f = from_bits((word & 0x7fffff) + kRootHalf) - 1.0f;
  const F e = convert(word >> 23) - (subnormal ? F{} + 23.0f : F{});
  const F r = polynomial(f, 0.333333135f, -0.250000089f, 0.200021192f, -0.166679963f, 0.142195508f, -0.124055922f,
                         0.118881777f, -0.116756387f, 0.0674659163f);
  const F square = f * f;
  const F result = e * 0.693145752f + (f + (e * 1.42860677e-06f + (square * f * r - 0.5f * square)));
  const F special = x == 0.0f ? F{} - __builtin_inff() : x < 0.0f ? F{} + __builtin_nanf("") : x;
  return x > 0.0f ? (x < __builtin_inff() ? result : special) : special;
}

template <class F>
[[gnu::always_inline]] inline F log1p(F x) {
  const F u = 1.0f + x;
  const F lost = x - (u - 1.0f);
  const F result = log(u) + lost / u;
  const F exact = x == 0.0f ? x : result;  // keeps -0
  return u < __builtin_inff() ? (u > 0.0f ? exact : log(u)) : u;
}

template <class F>
[[gnu::always_inline]] inline F tanh(F x) {
  const F square = x * x;
  const F small = x + x * square *
                          polynomial(square, -0.333333313f, 0.133332059f, -0.0539467633f, 0.0217007007f,
                                     -0.00817739498f, 0.00214295881f);
  const F size = abs_of(x);
  const F large = 1.0f - 2.0f / (normal_exp(at_most(size + size, 80.0f)) + 1.0f);
  return with_sign(size < 0.625f ? small : large, x);
}

/// 1 + e^x.
template <class F>
[[gnu::always_inline]] inline F one_and_exp(F x) {
  return 1.0f + normal_exp(at_least(at_most(x, 89.0f), -86.0f));
}

template <class F>
[[gnu::always_inline]] inline F sigmoid(F x) {
  return 1.0f / one_and_exp(-x);
}

template <class F>
[[gnu::always_inline]] inline F silu(F x) {
  return x / one_and_exp(-x);
}

/// Of |x| < 0.95.
template <class F>
[[gnu::always_inline]] inline F small_erf(F x) {
  return x + x * polynomial(x * x, 0.128379166f, -0.376126319f, 0.112836637f, -0.0268577058f, 0.0051969518f,
                            -0.000809770252f, 8.1850907e-05f);
}

template <class F>
[[gnu::always_inline]] inline F erf(F x) {
  const F size = abs_of(x);
  const F t = at_most(size, 4.0f);
  const F log_rest = polynomial(t, 0.000169205261f, -1.12948835f, -0.633400857f, -0.108220384f, 0.0250806175f,
                                -0.00415625563f, 0.000431393681f, -2.08286274e-05f);
  return size < 0.95f ? small_erf(x) : with_sign(1.0f - normal_exp(log_rest), x);
}

#ifdef PASSNET_AVX512_
/// erf of eighths / 8, which is not below 0, off by 1e-7 at most; of NaN any number. Half of what polynomials and exp take.
[[gnu::always_inline]] inline floats erf_by_pieces(floats eighths) {
  constexpr float kLast = 31.49f;  // in the last piece
  const floats bounded = eighths < kLast ? eighths : floats{} + kLast;
  const floats piece = bounded + kRounder, r = bounded - (piece - kRounder);
  const auto coefficient = [piece](const float* row) __attribute__((always_inline)) {
    using Row = Block<float>::type;
    return __builtin_ia32_vpermt2varps512_mask((ints)piece, *reinterpret_cast<const Row*>(row),
                                               *reinterpret_cast<const Row*>(row + kWidth), -1);
  };
  floats sum = coefficient(kErfPieces[4]);
  for (int power = 3; power >= 0; --power) sum = sum * r + coefficient(kErfPieces[power]);
  return sum;
}

[[gnu::always_inline]] inline floats erf(floats x) {
  const floats size = abs_of(x);
  return size >= 0.95f ? with_sign(erf_by_pieces(8.0f * size), x) : small_erf(x);
}
#endif

/// 1 - |erf(x / sqrt(2))| = 2^p(|x|), off by 1e-8 at most where |x| >= 1 and 1e-8 / |x| below it; where T is of two bytes by 1.2e-7,
/// of which such show nothing.
template <class T, class F>
[[gnu::always_inline]] inline F normal_tails(F x) {
  const F size = at_most(abs_of(x), 5.7f);
  F exponent;
  if constexpr (sizeof(T) == 2)
    exponent = size * polynomial(size, -1.15113735f, -0.458970487f, -0.0531341508f, 0.00789136066f, -0.000708108942f,
                                 2.56739713e-05f);
  else
    exponent = size * polynomial(size, -1.15110826f, -0.459183753f, -0.0525658131f, 0.00715959119f, -0.00020816311f,
                                 -0.000157408052f, 3.34337201e-05f, -2.34573190e-06f);
  F power;
  const auto n = reduce_power(exponent, power);
  return (power + 1.0f) * power_of_two(n);
}

template <class T, class F>
[[gnu::always_inline]] inline F gelu(F x) {
  return 0.5f * x * (1.0f + with_sign(1.0f - normal_tails<T>(x), x));
}

#ifdef PASSNET_AVX512_
template <class T>
[[gnu::always_inline]] inline floats gelu(floats x) {
  constexpr float kEighths = 5.65685425f;  // 8 / sqrt(2)
  return 0.5f * x * (1.0f + with_sign(erf_by_pieces(abs_of(x) * kEighths), x));
}
#endif

template <class F>
[[gnu::always_inline]] inline F gelu_tanh(F x) {
  const F twice = x * (1.59576912f + 0.0713548163f * x * x);  // 2 sqrt(2/pi) (x + 0.044715 x^3)
  return x / one_and_exp(-twice);
}

/// Beyond it three floats do not hold n pi/2.
constexpr float kFarAngle = 1e5f;
[[gnu::always_inline]] inline bool is_far_angle(float x) {
  return abs_of(x) > kFarAngle && abs_of(x) < __builtin_inff();
}

/// x = n pi/2 + r where x is_far_angle; returns n, or what differs from it by a multiple of 4, and leaves r. After Payne and
/// Hanek: what 2/pi begins with makes multiples of 4, and is left out.
[[gnu::always_inline]] inline int32_t reduce_far_angle(float& x) {
  constexpr uint32_t kTwoOverPi[] = {0,          0xa2f9836e, 0x4e441529, 0xfc2757d1,
                                     0xf534ddc0, 0xdb629599, 0x3c439041, 0xfe5163ab};  // in front of it 32 zeros
  const int32_t word = bits(x);
  const uint64_t whole = (word & 0x7fffff) | 0x800000;  // |x| = whole 2^exponent
  const int first = ((word >> 23) & 255) - 150 + 30;    // exponent + 32 - 2
  const uint32_t* from = kTwoOverPi + first / 32;
  const int shift = first % 32;
  const uint64_t high = uint64_t(from[0]) << 32 | from[1], low = uint64_t(from[2]) << 32 | from[3];
  const uint64_t upper = high << shift | low >> 32 >> (32 - shift);
  const uint64_t lower = low << shift >> 32;
  const uint64_t quarters = whole * upper + (whole * lower >> 32);  // 62 bits behind the point
  const int64_t rest = static_cast<int64_t>(quarters << 2) >> 2;
  const auto n = static_cast<int32_t>((quarters - static_cast<uint64_t>(rest)) >> 62);
  const auto r = static_cast<float>(static_cast<double>(rest) * (1.5707963267948966 * 0x1p-62));
  x = word < 0 ? -r : r;
  return word < 0 ? -n : n;
}
[[gnu::always_inline]] inline void reduce_far_angles(float x, float& r, int32_t& n) {
  if (__builtin_expect(!is_far_angle(x), true)) return;
  n = reduce_far_angle(x);
  r = x;
}
[[gnu::always_inline]] inline void reduce_far_angles(floats x, floats& r, ints& n) {
  if (__builtin_expect(!any(abs_of(x) > kFarAngle), true)) return;
  // Copies: what is changed lane by lane lies in memory, and all others need not.
  const floats all = x;
  floats rests = r;
  ints counts = n;
  for (int i = 0; i < kWidth; ++i) {
    float one = all[i];
    if (!is_far_angle(one)) continue;
    counts[i] = reduce_far_angle(one);
    rests[i] = one;
  }
  r = rests;
  n = counts;
}

/// x = n pi/2 + r; returns n and leaves r.
template <class F>
[[gnu::always_inline]] inline ints_of<F> reduce_angle(F& x) {
  const F shifted = x * 0.636619772f + kRounder;
  const F n = shifted - kRounder;
  F r = ((x - n * 1.57079637f) - n * -4.37113883e-08f) - n * -1.71512451e-15f;
  ints_of<F> whole = bits(shifted) - kRounderBits;
  reduce_far_angles(x, r, whole);
  x = r;
  return whole;
}
/// sin(x + quarter pi/2).
template <class F>
[[gnu::always_inline]] inline F sine(F x, int32_t quarter) {
  const auto n = reduce_angle(x) + quarter;
  const F square = x * x;
  const F s = x + x * square * polynomial(square, -0.166666672f, 0.00833332911f, -0.000198393085f, 2.71808403e-06f);
  const F c =
      1.0f +
      square * (square * polynomial(square, 0.0416666679f, -0.00138888834f, 2.47994558e-05f, -2.72053995e-07f) - 0.5f);
  return from_bits(bits((n & 1) != 0 ? c : s) ^ ((n & 2) << 30));
}
template <class F>
[[gnu::always_inline]] inline F sin(F x) {
  return sine(x, 0);
}
template <class F>
[[gnu::always_inline]] inline F cos(F x) {
  return sine(x, 1);
}

[[gnu::always_inline]] inline float sqrt(float x) { return __builtin_sqrtf(x); }
[[gnu::always_inline]] inline floats sqrt(floats x) {
#if defined(PASSNET_AVX512_)
  return __builtin_ia32_sqrtps512_mask(x, floats{}, -1, 4);
#elif defined(__AVX2__) && !defined(__clang__)
  return __builtin_ia32_sqrtps256(x);
#else
  for (int i = 0; i < kWidth; ++i) x[i] = __builtin_sqrtf(x[i]);
  return x;
#endif
}
template <class F>
[[gnu::always_inline]] inline F rsqrt(F x) {
  return 1.0f / sqrt(x);
}

template <class F>
[[gnu::always_inline]] inline F abs(F x) {
  return abs_of(x);
}
template <class F>
[[gnu::always_inline]] inline F relu(F x) {
  return 0.0f > x ? F{} : x;
}

/// a - floor(a / b) b, exact before the last rounding, as torch.remainder.
[[gnu::always_inline]] inline float far_remainder(float a, float b) {
  const float rest = __builtin_fmodf(a, b);
  return rest != 0.0f && (b < 0.0f) != (rest < 0.0f) ? rest + b : rest;
}
/// The number of whole b in a, rounded down, as torch.floor_divide, which rounds each step to T.
template <class T = float>
[[gnu::always_inline]] inline float far_quotient(float a, float b) {
  if (b == 0.0f) return a / b;
  const float rest = __builtin_fmodf(a, b);
  float quotient = rounded<T>(rounded<T>(a - rest) / b);
  if (rest != 0.0f && (b < 0.0f) != (rest < 0.0f)) quotient = rounded<T>(quotient - 1.0f);
  if (quotient == 0.0f) return __builtin_copysignf(0.0f, a / b);
  const float whole = __builtin_floorf(quotient);
  return rounded<T>(quotient - whole) > 0.5f ? whole + 1.0f : whole;
}

/// Quotients below this are rounded to the nearest whole number without error, and what is left of a is exact. Others, and those by
/// infinity, go through fmod.
constexpr float kNearQuotient = 0x1p20f;
template <class F>
[[gnu::always_inline]] inline auto is_near_quotient(F a, F b) {
  return (abs_of(a / b) < kNearQuotient) & (abs_of(b) < __builtin_inff());
}
/// a - n b, rounded once, also where the compiler knows n b.
[[gnu::always_inline]] inline float minus_product(float a, float n, float b) { return __builtin_fmaf(-n, b, a); }
[[gnu::always_inline]] inline floats minus_product(floats a, floats n, floats b) { return fma(-n, b, a); }
template <class F>
[[gnu::always_inline]] inline F near_remainder(F a, F b) {
  const F n = a / b + kRounder - kRounder;
  const F rest = minus_product(a, n, b);
  const auto is_other_side = (rest < 0.0f) != (b < 0.0f);
  return rest == 0.0f ? with_sign(rest, a) : is_other_side ? rest + b : rest;
}
template <class F>
[[gnu::always_inline]] inline F near_quotient(F a, F b) {
  const F quotient = a / b, n = quotient + kRounder - kRounder;
  const F rest = minus_product(a, n, b);
  const auto is_less = (rest != 0.0f) & ((rest < 0.0f) != (b < 0.0f));
  const F whole = is_less ? n - 1.0f : n;
  return whole == 0.0f ? with_sign(whole, quotient) : whole;
}
#define PASSNET_DIVISION_(name, near, far)                                                    \
  [[gnu::always_inline]] inline float name(float a, float b) {                                \
    return __builtin_expect(is_near_quotient(a, b), true) ? near(a, b) : far(a, b);           \
  }                                                                                           \
  [[gnu::always_inline]] inline floats name(floats a, floats b) {                             \
    const ints is_near = is_near_quotient(a, b);                                              \
    const floats result = near(a, b);                                                         \
    if (__builtin_expect(!any(is_near == 0), true)) return result;                            \
    /* Copies: what is changed lane by lane lies in memory, and all others need not. */       \
    floats all = result;                                                                      \
    const floats from = a, by = b;                                                            \
    for (int i = 0; i < kWidth; ++i) all[i] = is_near[i] != 0 ? all[i] : far(from[i], by[i]); \
    return all;                                                                               \
  }
PASSNET_DIVISION_(floor_remainder, near_remainder, far_remainder)
PASSNET_DIVISION_(floor_divide, near_quotient, far_quotient)
#undef PASSNET_DIVISION_
template <class T>
[[gnu::always_inline]] inline floats far_quotients(floats a, floats b) {
  for (int i = 0; i < kWidth; ++i) a[i] = far_quotient<T>(a[i], b[i]);
  return a;
}

/// A function of each part, without a loop: GCC 12 unrolls one of a long function too late, and then moves what it is called with
/// through memory, in pieces that are stored and loaded with other sizes.
template <class Function>
[[gnu::always_inline]] inline vec of_parts(vec x, Function function) {
  x.part[0] = function(x.part[0]);
  if constexpr (kParts > 1) x.part[1] = function(x.part[1]);
  if constexpr (kParts > 2) {
    x.part[2] = function(x.part[2]);
    x.part[3] = function(x.part[3]);
  }
  return x;
}

}  // namespace detail

#define PASSNET_MATH_(name)                                                                        \
  [[gnu::always_inline]] inline float name(float x) { return detail::name(x); }                    \
  [[gnu::always_inline]] inline vec name(vec x) {                                                  \
    return detail::of_parts(                                                                       \
        x, [](detail::floats part) __attribute__((always_inline)) { return detail::name(part); }); \
  }
PASSNET_MATH_(exp)
PASSNET_MATH_(expm1)
PASSNET_MATH_(log)
PASSNET_MATH_(log1p)
PASSNET_MATH_(tanh)
PASSNET_MATH_(sigmoid)
PASSNET_MATH_(silu)
PASSNET_MATH_(erf)
PASSNET_MATH_(gelu_tanh)  // gelu with approximate='tanh'
PASSNET_MATH_(sin)
PASSNET_MATH_(cos)
PASSNET_MATH_(sqrt)
PASSNET_MATH_(rsqrt)
PASSNET_MATH_(abs)
PASSNET_MATH_(relu)
#undef PASSNET_MATH_

/// x Phi(x), the default of torch.nn.functional.gelu. Without AVX-512 by a shorter polynomial where T is of two bytes.
template <class T = float>
[[gnu::always_inline]] inline float gelu(float x) {
  return detail::gelu<T>(x);
}
template <class T = float>
[[gnu::always_inline]] inline vec gelu(vec x) {
  return detail::of_parts(
      x, [](detail::floats part) __attribute__((always_inline)) { return detail::gelu<T>(part); });
}

#define PASSNET_LIBM_(name) \
  [[gnu::always_inline]] inline double name(double x) { return __builtin_##name(x); }
PASSNET_LIBM_(exp)
PASSNET_LIBM_(expm1)
PASSNET_LIBM_(log)
PASSNET_LIBM_(log1p)
PASSNET_LIBM_(tanh)
PASSNET_LIBM_(erf)
PASSNET_LIBM_(sin)
PASSNET_LIBM_(cos)
PASSNET_LIBM_(sqrt)
#undef PASSNET_LIBM_

/// a - floor(a / b) b, as torch.remainder.
[[gnu::always_inline]] inline float floor_remainder(float a, float b) { return detail::floor_remainder(a, b); }
[[gnu::always_inline]] inline vec floor_remainder(vec a, vec b) {
  for (int p = 0; p < detail::kParts; ++p) a.part[p] = detail::floor_remainder(a.part[p], b.part[p]);
  return a;
}

/// torch.floor_divide of elements of T.
template <class T = float>
[[gnu::always_inline]] inline float floor_divide(float a, float b) {
  if constexpr (sizeof(T) < sizeof(float))
    return detail::far_quotient<T>(a, b);
  else
    return detail::floor_divide(a, b);
}
template <class T = float>
[[gnu::always_inline]] inline vec floor_divide(vec a, vec b) {
  for (int p = 0; p < detail::kParts; ++p) {
    if constexpr (sizeof(T) < sizeof(float))
      a.part[p] = detail::far_quotients<T>(a.part[p], b.part[p]);
    else
      a.part[p] = detail::floor_divide(a.part[p], b.part[p]);
  }
  return a;
}

/// torch.pow(x, 0.5) of elements of T: the root, but PyTorch calls pow() for those of float16, which gives 0 for -0, and
/// infinity for -infinity.
template <class T, class V>
[[gnu::always_inline]] inline V root_by_pow(V x) {
  if constexpr (__is_same(T, float16)) x = select(x == V(-__builtin_inff()), V(__builtin_inff()), x + V(0.0f));
  return sqrt(x);
}

/// The larger and the smaller; NaN if either is, as torch.maximum does.
[[gnu::always_inline]] inline vec max(vec a, vec b) { return select(a > b, a, select(a != a, a, b)); }
[[gnu::always_inline]] inline vec min(vec a, vec b) { return select(a < b, a, select(a != a, a, b)); }
[[gnu::always_inline]] inline float max(float a, float b) { return a > b || a != a ? a : b; }
[[gnu::always_inline]] inline float min(float a, float b) { return a < b || a != a ? a : b; }

/// x held to [low, high]; NaN stays.
[[gnu::always_inline]] inline vec clamp(vec x, float low, float high) {
  return select(vec(low) > x, low, select(vec(high) < x, high, x));
}
[[gnu::always_inline]] inline float clamp(float x, float low, float high) {
  return low > x ? low : high < x ? high : x;
}

/// log(1 + exp(beta x)) / beta, and x where beta x > threshold, as torch.nn.functional.softplus.
template <class V>
[[gnu::always_inline]] inline V softplus(V x, float beta = 1.0f, float threshold = 20.0f) {
  const V z = x * V(beta);
  // log(1 + e) = 2 artanh(e / (2 + e)), which needs no cases as e is at most 1.
  const V e = exp(-abs(z)), part = e / (e + V(2.0f)), square = part * part;
  const V series =
      (((square * V(0.116195254f) + V(0.108516574f)) * square + V(0.142962918f)) * square + V(0.199998513f)) * square +
      V(0.333333343f);
  const V soft = (relu(z) + V(2.0f) * (part + part * square * series)) * V(1.0f / beta);
  return select(z > V(threshold), x, soft);
}

template <class V>
[[gnu::always_inline]] inline V hardsigmoid(V x) {
  return clamp(x + V(3.0f), 0.0f, 6.0f) * V(1.0f / 6.0f);
}
template <class V>
[[gnu::always_inline]] inline V hardswish(V x) {
  return x * clamp(x + V(3.0f), 0.0f, 6.0f) * V(1.0f / 6.0f);
}

/// a / b. On a GPU it is faster than the operator where many a are divided by one b, and may be off by one ulp where a result
/// lies beyond 2^-100 and 2^100. Each is a vec or a float.
template <class A, class B>
[[gnu::always_inline]] inline auto divide(A a, B b) {
  return a / b;
}

/// The variance of `count` elements whose squared distances from their mean are summed up, as PyTorch's instance_norm goes on
/// with it: where T is bfloat16 it stores, on a CPU, both sum and variance. Sum: a vec or a float.
template <class T, class Sum>
[[gnu::always_inline]] inline auto instance_variance(Sum sum, float count) {
  if constexpr (__is_same(T, bfloat16))
    return rounded<T>(rounded<T>(sum) / Sum(count));
  else
    return sum / Sum(count);
}

/// torch.nn.functional.batch_norm, as PyTorch computes it on a CPU: x times a factor, plus a summand. inverse: of the
/// deviation, 1 / sqrt(variance + eps). Each is a vec or a float.
template <class X, class Mean, class Inverse, class Weight, class Bias>
[[gnu::always_inline]] inline auto batch_normalized(X x, Mean mean, Inverse inverse, Weight weight, Bias bias) {
  const auto scale = inverse * weight;
  return x * scale + (bias - mean * scale);
}

}  // namespace passnet
