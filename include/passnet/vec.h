// passnet::vec: 16 floats, held in as many hardware vectors as the machine needs. One kernel text for all
// dtypes and machines: load converts from the element type, arithmetic is in float, store converts back.
#pragma once

#include <passnet/elements.h>

namespace passnet {

constexpr int kLanes = 16;

namespace detail {

#if defined(__AVX512F__) && defined(__AVX512BW__) && defined(__AVX512VL__) && !defined(__clang__)
#define PASSNET_AVX512_
#if defined(__AMX_TILE__) && defined(__AMX_BF16__)
#define PASSNET_MATRIX_UNIT_
#endif
constexpr int kWidth = 16;
#elif defined(__AVX2__)
constexpr int kWidth = 8;
#else
constexpr int kWidth = 4;
#endif
constexpr int kParts = kLanes / kWidth;
/// Whether code for the matrix unit of processors (matrix_unit.h) is compiled.
#if defined(PASSNET_MATRIX_UNIT_)
constexpr bool kHasMatrixUnit = true;
#else
constexpr bool kHasMatrixUnit = false;
#endif

typedef float floats __attribute__((vector_size(4 * kWidth)));
typedef int32_t ints __attribute__((vector_size(4 * kWidth)));
typedef uint32_t words __attribute__((vector_size(4 * kWidth)));
typedef uint16_t halves __attribute__((vector_size(2 * kWidth)));
typedef short half_words __attribute__((vector_size(2 * kWidth)));  // as instructions take them

/// It is there, and the compiler knows no longer how it was made.
template <class X>
[[gnu::always_inline]] inline void keep_in_register(X& x) {
#if defined(__x86_64__)
  asm("" : "+v"(x));
#endif
}
[[gnu::always_inline]] inline ints bits(floats x) { return (ints)x; }
[[gnu::always_inline]] inline floats from_bits(ints x) { return (floats)x; }
/// Whether any lane of a comparison holds.
[[gnu::always_inline]] inline bool any(ints x) {
#ifdef PASSNET_AVX512_
  return __builtin_ia32_ptestmd512(x, x, -1) != 0;
#elif defined(__AVX2__)
  typedef long long quads __attribute__((vector_size(32)));
  return __builtin_ia32_ptestz256((quads)x, (quads)x) == 0;
#else
  int32_t found = 0;
  for (int i = 0; i < kWidth; ++i) found |= x[i];
  return found != 0;
#endif
}

/// kWidth elements of any type, at any address.
template <class T>
struct Block {
  typedef T type __attribute__((vector_size(sizeof(T) * kWidth), aligned(alignof(T)), may_alias));
};
template <>
struct Block<bfloat16> {
  typedef uint16_t type __attribute__((vector_size(2 * kWidth), aligned(2), may_alias));
};
template <>
struct Block<bool> {
  typedef uint8_t type __attribute__((vector_size(kWidth), aligned(1), may_alias));
};

template <class T>
[[gnu::always_inline]] inline floats load_part(const T* x) {
  return __builtin_convertvector(*reinterpret_cast<const typename Block<T>::type*>(x), floats);
}
template <class T>
[[gnu::always_inline]] inline void store_part(T* out, floats x) {
  using Elements = typename Block<T>::type;
  *reinterpret_cast<Elements*>(out) = __builtin_convertvector(x, Elements);
}
[[gnu::always_inline]] inline void store_part(bool* out, floats x) {
  *reinterpret_cast<Block<bool>::type*>(out) = __builtin_convertvector(x != 0.0f, Block<bool>::type) & uint8_t(1);
}

[[gnu::always_inline]] inline floats widen(halves x, bfloat16) {
  // GCC 12 would widen each half of x on its own.
#if defined(PASSNET_AVX512_)
  return (floats)(__builtin_ia32_pmovzxwd512_mask((half_words)x, ints{}, -1) << 16);
#elif defined(__AVX2__)
  return (floats)(__builtin_ia32_pmovzxwd256((half_words)x) << 16);
#else
  return (floats)(__builtin_convertvector(x, words) << 16);
#endif
}
/// Of each its upper 16 bits, rounded to the nearest; of a NaN those of one.
[[gnu::always_inline]] inline words nearest(floats x) {
  const words word = (words)x;
  const words rounded = (word + 0x7fffu + ((word >> 16) & 1u)) >> 16;
  return (words)(x != x ? (ints)(words{} + 0x7fc0u) : (ints)rounded);
}
[[gnu::always_inline]] inline halves narrow(floats x, bfloat16) {
#if defined(PASSNET_AVX512_) && defined(__AVX512DQ__) && defined(__AVX512BF16__)
  // The instruction takes subnormal values for 0; they are rare enough for a branch.
  constexpr int kSubnormal = 0x20;
  const auto subnormal = __builtin_ia32_fpclassps512_mask(x, kSubnormal, -1);
  if (__builtin_expect(subnormal == 0, true)) return (halves)__builtin_ia32_cvtneps2bf16_v16sf(x);
#endif
  return __builtin_convertvector(nearest(x), halves);
}
[[gnu::always_inline]] inline floats load_part(const bfloat16* x) {
  return widen(*reinterpret_cast<const Block<bfloat16>::type*>(x), bfloat16());
}
[[gnu::always_inline]] inline void store_part(bfloat16* out, floats x) {
  *reinterpret_cast<Block<bfloat16>::type*>(out) = narrow(x, bfloat16());
}

// GCC 12 converts vectors of _Float16 one by one unless AVX512-FP16 is there; F16C's own instructions do not.
#if defined(PASSNET_AVX512_) || (defined(__AVX2__) && defined(__F16C__) && !defined(__clang__))
#define PASSNET_F16C_
[[gnu::always_inline]] inline floats widen(halves x, float16) {
#ifdef PASSNET_AVX512_
  return __builtin_ia32_vcvtph2ps512_mask((half_words)x, floats{}, -1, 4);
#else
  return __builtin_ia32_vcvtph2ps256((half_words)x);
#endif
}
[[gnu::always_inline]] inline halves narrow(floats x, float16) {
#ifdef PASSNET_AVX512_
  return (halves)__builtin_ia32_vcvtps2ph512_mask(x, 0, half_words{}, -1);
#else
  return (halves)__builtin_ia32_vcvtps2ph256(x, 0);
#endif
}
[[gnu::always_inline]] inline floats load_part(const float16* x) {
  return widen(*reinterpret_cast<const Block<bfloat16>::type*>(x), float16());
}
[[gnu::always_inline]] inline void store_part(float16* out, floats x) {
  *reinterpret_cast<Block<bfloat16>::type*>(out) = narrow(x, float16());
}
#endif

}  // namespace detail

/// A choice per lane, from a comparison of two vecs.
struct mask {
  detail::ints part[detail::kParts];
};

struct vec {
  detail::floats part[detail::kParts];

  vec() = default;
  [[gnu::always_inline]] vec(float x) {
    for (detail::floats& p : part) p = x - detail::floats{};  // 0 + x would be 0 for -0
  }
  /// Lane `i`, 0 … 15.
  float operator[](int i) const { return part[i / detail::kWidth][i % detail::kWidth]; }
};

#define PASSNET_BINARY_(result, op)                                                \
  [[gnu::always_inline]] inline result operator op(vec a, vec b) {                 \
    result out;                                                                    \
    for (int p = 0; p < detail::kParts; ++p) out.part[p] = a.part[p] op b.part[p]; \
    return out;                                                                    \
  }
PASSNET_BINARY_(vec, +)
PASSNET_BINARY_(vec, -)
PASSNET_BINARY_(vec, *)
PASSNET_BINARY_(vec, /)
PASSNET_BINARY_(mask, <)
PASSNET_BINARY_(mask, <=)
PASSNET_BINARY_(mask, >)
PASSNET_BINARY_(mask, >=)
PASSNET_BINARY_(mask, ==)
PASSNET_BINARY_(mask, !=)
#undef PASSNET_BINARY_
[[gnu::always_inline]] inline vec operator-(vec a) {
  for (detail::floats& p : a.part) p = -p;
  return a;
}
[[gnu::always_inline]] inline vec& operator+=(vec& a, vec b) { return a = a + b; }
[[gnu::always_inline]] inline vec& operator-=(vec& a, vec b) { return a = a - b; }
[[gnu::always_inline]] inline vec& operator*=(vec& a, vec b) { return a = a * b; }
[[gnu::always_inline]] inline mask operator&(mask a, mask b) {
  for (int p = 0; p < detail::kParts; ++p) a.part[p] &= b.part[p];
  return a;
}
[[gnu::always_inline]] inline mask operator|(mask a, mask b) {
  for (int p = 0; p < detail::kParts; ++p) a.part[p] |= b.part[p];
  return a;
}
/// With a condition that is the same for all lanes.
[[gnu::always_inline]] inline mask operator&(mask a, bool b) { return b ? a : mask{}; }
[[gnu::always_inline]] inline mask operator&(bool a, mask b) { return b & a; }
[[gnu::always_inline]] inline mask operator|(mask a, bool b) {
  for (int p = 0; p < detail::kParts; ++p) a.part[p] |= -int32_t(b);
  return a;
}
[[gnu::always_inline]] inline mask operator|(bool a, mask b) { return b | a; }

/// a where `m` holds, else b.
[[gnu::always_inline]] inline vec select(mask m, vec a, vec b) {
  for (int p = 0; p < detail::kParts; ++p) a.part[p] = m.part[p] ? a.part[p] : b.part[p];
  return a;
}
[[gnu::always_inline]] inline mask select(mask m, mask a, mask b) {
  for (int p = 0; p < detail::kParts; ++p) a.part[p] = m.part[p] ? a.part[p] : b.part[p];
  return a;
}
[[gnu::always_inline]] inline vec select(bool m, vec a, vec b) { return m ? a : b; }
[[gnu::always_inline]] inline float select(bool m, float a, float b) { return m ? a : b; }
namespace detail {
[[gnu::always_inline]] inline floats fma(floats a, floats b, floats c) {
#if defined(PASSNET_AVX512_)
  return __builtin_ia32_vfmaddps512_mask(a, b, c, -1, 4);
#elif defined(__AVX2__) && defined(__FMA__) && !defined(__clang__)
  return __builtin_ia32_vfmaddps256(a, b, c);
#else
  for (int i = 0; i < kWidth; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}
}  // namespace detail
/// a * b + c, rounded once, also where the compiler knows the product.
[[gnu::always_inline]] inline float fma(float a, float b, float c) { return __builtin_fmaf(a, b, c); }
[[gnu::always_inline]] inline vec fma(vec a, vec b, vec c) {
  for (int p = 0; p < detail::kParts; ++p) c.part[p] = detail::fma(a.part[p], b.part[p], c.part[p]);
  return c;
}

/// a * b, rounded before anything is added to it. (The compiler makes one operation of `a * b + c`; where the two are operators of
/// their own, PyTorch rounds in between.)
[[gnu::always_inline]] inline float multiply(float a, float b) {
  float product = a * b;
  detail::keep_in_register(product);
  return product;
}
[[gnu::always_inline]] inline vec multiply(vec a, vec b) {
  vec product = a * b;
  for (detail::floats& part : product.part) detail::keep_in_register(part);
  return product;
}

/// The first `count` lanes.
[[gnu::always_inline]] inline mask first_lanes(int count) {
  mask out;
  for (int p = 0; p < detail::kParts; ++p) {
    detail::ints lane;
    for (int i = 0; i < detail::kWidth; ++i) lane[i] = p * detail::kWidth + i;
    out.part[p] = lane < count;
  }
  return out;
}

#if defined(__AVX2__) && !defined(PASSNET_AVX512_)
namespace detail {
[[gnu::always_inline]] inline void store_packed(bfloat16* out, floats a, floats b) {
  typedef long long quads __attribute__((vector_size(32)));
  typedef quads at_any_address __attribute__((aligned(2), may_alias));
  // Of each half of a, and then of b, which are put in order again.
  const auto halves_by_turns = (quads)__builtin_ia32_packusdw256((ints)nearest(a), (ints)nearest(b));
  *reinterpret_cast<at_any_address*>(out) = __builtin_ia32_permdi256(halves_by_turns, 0xd8);
}
}  // namespace detail
#endif

/// A number that is known where it is used: an array can have so many elements.
template <int n>
struct Count {
  [[gnu::always_inline]] constexpr operator int() const { return n; }
};

/// 16 elements as floats. double is rounded to float.
template <class T>
[[gnu::always_inline]] inline vec load(const T* x) {
  vec out;
  for (int p = 0; p < detail::kParts; ++p) out.part[p] = detail::load_part(x + p * detail::kWidth);
  return out;
}
template <class T>
[[gnu::always_inline]] inline void store(T* out, vec x) {
#if defined(__AVX2__) && !defined(PASSNET_AVX512_)
  // GCC 12 would pack each part by itself.
  if constexpr (__is_same(T, bfloat16)) return detail::store_packed(out, x.part[0], x.part[1]);
#endif
  for (int p = 0; p < detail::kParts; ++p) detail::store_part(out + p * detail::kWidth, x.part[p]);
}

namespace detail {
template <class X>
[[gnu::always_inline]] inline X read_as(const void* from) {
  X x;
  __builtin_memcpy(&x, from, sizeof x);
  return x;
}
/// Fewer than 16 elements, in as few pieces as their number has bits.
template <class T>
[[gnu::always_inline]] inline void copy_pieces(T* out, const T* x, int count) {
  int at = 0;
  const auto piece = [&]<int n>(Count<n>) __attribute__((always_inline)) {
    if ((count & n) == 0) return;
    __builtin_memcpy(out + at, x + at, n * sizeof(T));
    at += n;
  };
  piece(Count<8>()), piece(Count<4>()), piece(Count<2>()), piece(Count<1>());
}

#if defined(__AVX2__) && !defined(PASSNET_AVX512_)
/// The first `count` of 8 elements of two bytes (0 … 8), the others 0. What was stored in pieces would have to reach memory
/// before it could be loaded in one.
template <class T>
[[gnu::always_inline]] inline halves first_halves(const T* x, int count) {
  typedef uint64_t pair __attribute__((vector_size(16)));
  // Two pieces that overlap, of the second one what lies behind the first: shifts of half as many bits, twice, as one of all
  // bits is undefined.
  const auto behind = [count](uint64_t last, int of) __attribute__((always_inline)) {
    return last >> 8 * (of - count) >> 8 * (of - count);
  };
  if (count >= 8) return read_as<halves>(x);
  if (count >= 4) return (halves)pair{read_as<uint64_t>(x), behind(read_as<uint64_t>(x + count - 4), 8)};
  if (count >= 2) return (halves)pair{read_as<uint32_t>(x) | behind(read_as<uint32_t>(x + count - 2), 4) << 32, 0};
  return (halves)pair{count > 0 ? read_as<uint16_t>(x) : 0u, 0};
}
#endif

template <class T>
inline vec load_tail(const T* x, int lanes) {
#ifdef PASSNET_AVX512_
  const auto some = static_cast<unsigned short>((1u << lanes) - 1u);
  vec out;
  if constexpr (__is_same(T, float)) {
    out.part[0] = __builtin_ia32_loadups512_mask(x, floats{}, some);
    return out;
  } else if constexpr (__is_same(T, float16) || __is_same(T, bfloat16)) {
    out.part[0] =
        widen((halves)__builtin_ia32_loaddquhi256_mask(reinterpret_cast<const short*>(x), half_words{}, some), T());
    return out;
  }
#elif defined(__AVX2__)
  vec out;
  if constexpr (__is_same(T, float)) {
    const mask some = first_lanes(lanes);
    for (int p = 0; p < kParts; ++p)
      out.part[p] = __builtin_ia32_maskloadps256(reinterpret_cast<const floats*>(x + p * kWidth), some.part[p]);
    return out;
  } else if constexpr (__is_same(T, float16) || __is_same(T, bfloat16)) {
    const halves parts[] = {first_halves(x, lanes), first_halves(x + kWidth, lanes - kWidth)};
    for (int p = 0; p < kParts; ++p) out.part[p] = load_part(reinterpret_cast<const T*>(&parts[p]));
    return out;
  }
#endif
  T whole[kLanes] = {};
  copy_pieces(whole, x, lanes);
  return load(whole);
}
template <class T>
inline void store_tail(T* out, vec x, int lanes) {
#ifdef PASSNET_AVX512_
  const auto some = static_cast<unsigned short>((1u << lanes) - 1u);
  if constexpr (__is_same(T, float)) return __builtin_ia32_storeups512_mask(out, x.part[0], some);
  if constexpr (__is_same(T, float16) || __is_same(T, bfloat16))
    return __builtin_ia32_storedquhi256_mask(reinterpret_cast<short*>(out), (half_words)narrow(x.part[0], T()), some);
#endif
  T whole[kLanes];
  store(whole, x);
  copy_pieces(out, whole, lanes);
}
}  // namespace detail

/// The first `lanes` elements (0 … 16), the other lanes 0; memory behind them is not touched.
template <class T>
[[gnu::always_inline]] inline vec load(const T* x, int lanes) {
  return lanes >= kLanes ? load(x) : detail::load_tail(x, lanes);
}
template <class T>
[[gnu::always_inline]] inline void store(T* out, vec x, int lanes) {
  if (lanes >= kLanes)
    store(out, x);
  else
    detail::store_tail(out, x, lanes);
}

namespace detail {
template <class T>
inline vec load_between(const T* x, int first, int last, float otherwise) {
#ifdef PASSNET_AVX512_
  const auto some = static_cast<unsigned short>((1u << last) - (1u << first));
  vec out;
  if constexpr (__is_same(T, float)) {
    out.part[0] = __builtin_ia32_loadups512_mask(x, floats{} + otherwise, some);
    return out;
  } else if constexpr (__is_same(T, float16) || __is_same(T, bfloat16)) {
    const auto there =
        widen((halves)__builtin_ia32_loaddquhi256_mask(reinterpret_cast<const short*>(x), half_words{}, some), T());
    out.part[0] = there;
    return select(first_lanes(first), vec(otherwise), select(first_lanes(last), out, vec(otherwise)));
  }
#endif
  float all[kLanes];
  for (int lane = 0; lane < kLanes; ++lane) all[lane] = otherwise;
  for (int lane = first; lane < last; ++lane) all[lane] = to_float(x[lane]);
  return load(all);
}
}  // namespace detail

/// x[lane] of the first `lanes` (1 … 16) where 0 <= at + lane < extent, as in a row of a picture, and `otherwise` in lanes that
/// lie beside it, which are not read.
template <class T>
[[gnu::always_inline]] inline vec load_inside(const T* x, int64_t at, int64_t extent, int lanes, float otherwise) {
  const int first = at >= 0 ? 0 : -at < lanes ? static_cast<int>(-at) : lanes;
  const int last = extent - at >= lanes ? lanes : extent - at > first ? static_cast<int>(extent - at) : first;
  return first == 0 && last == lanes ? load(x, lanes) : detail::load_between(x, first, last, otherwise);
}

namespace detail {
/// Of each pair of lanes of a, and then of b, the first one, and from pair `from` on the second one.
template <int from>
[[gnu::always_inline]] inline floats every_other(floats a, floats b) {
  ints lanes;
  for (int i = 0; i < kWidth; ++i) lanes[i] = 2 * i + (i >= from);
  return __builtin_shuffle(a, b, lanes);
}
/// Of 32 elements that begin in `first` and go on in `second`, or there with the one before, every other one.
template <bool overlap>
[[gnu::always_inline]] inline vec every_other(vec first, vec second) {
  vec out;
  if constexpr (kParts == 1) {
    constexpr int kFrom = overlap ? kWidth / 2 : kWidth;
    out.part[0] = every_other<kFrom>(first.part[0], second.part[0]);
  } else {
    constexpr int kFrom = overlap ? 0 : kWidth;
    for (int p = 0; p < kParts / 2; ++p) {
      out.part[p] = every_other<kWidth>(first.part[2 * p], first.part[2 * p + 1]);
      out.part[kParts / 2 + p] = every_other<kFrom>(second.part[2 * p], second.part[2 * p + 1]);
    }
  }
  return out;
}
}  // namespace detail

/// x[0], x[2], …: the first `lanes` of 16 such elements (0 … 16), the other lanes 0. What lies behind the last is not read.
template <class T>
[[gnu::always_inline]] inline vec load_every_other(const T* x, int lanes) {
  if (lanes >= kLanes) return detail::every_other<true>(load(x), load(x + kLanes - 1));
  if (lanes <= 0) return 0.0f;
  const int there = 2 * lanes - 1;
  return detail::every_other<false>(load(x, there), there > kLanes ? load(x + kLanes, there - kLanes) : vec(0.0f));
}

/// x[0], x[4], …, in the same way.
template <class T>
[[gnu::always_inline]] inline vec load_every_fourth(const T* x, int lanes) {
  if (lanes >= kLanes)
    return detail::every_other<true>(load_every_other(x, kLanes), load_every_other(x + 2 * kLanes - 2, kLanes));
  if (lanes <= 0) return 0.0f;
  const int there = 2 * lanes - 1;
  return detail::every_other<false>(load_every_other(x, there < kLanes ? there : kLanes),
                                    load_every_other(x + 2 * kLanes, there - kLanes));
}

/// Sets what lies behind the first `count` places to the last of these: 15 more, so that 16 can be read from each place on.
inline void repeat_last(int32_t* places, int64_t count) {
  for (int64_t i = count; i > 0 && i < count + kLanes - 1; ++i) places[i] = places[count - 1];
}

namespace detail {
/// Lane at[i] of x (0 … 15) in each lane of a part.
[[gnu::always_inline]] inline floats chosen(vec x, ints at) {
#if defined(__AVX2__) && !defined(PASSNET_AVX512_)
  const floats below = __builtin_ia32_permvarsf256(x.part[0], at), above = __builtin_ia32_permvarsf256(x.part[1], at);
  return at < kWidth ? below : above;
#else
  return __builtin_shuffle(x.part[0], x.part[kParts - 1], at);
#endif
}
}  // namespace detail

/// x[places[0]], x[places[1]], …: elements of a row of `length`, the first `lanes` of 16 (1 … 16), the other lanes 0. places:
/// in the row, all 16 of them. Where they lie within 16 neighbours, these are loaded together.
template <class T>
[[gnu::always_inline]] inline vec gather(const T* x, int64_t length, const int32_t* places, int lanes) {
  if constexpr (detail::kParts <= 2) {
    const int32_t first = places[0];
    detail::ints at[detail::kParts];
    bool near = true;
    for (int p = 0; p < detail::kParts; ++p) {
      at[p] = *reinterpret_cast<const detail::Block<int32_t>::type*>(places + p * detail::kWidth) - first;
      near = near && !detail::any((detail::words)at[p] >= uint32_t{kLanes});
    }
    if (near) {
      const vec neighbours = load(x + first, length - first < kLanes ? static_cast<int>(length - first) : kLanes);
      vec out;
      for (int p = 0; p < detail::kParts; ++p) out.part[p] = detail::chosen(neighbours, at[p]);
      return lanes < kLanes ? select(first_lanes(lanes), out, 0.0f) : out;
    }
  }
  T found[kLanes] = {};
  for (int lane = 0; lane < lanes; ++lane) found[lane] = x[places[lane]];
  return load(found);
}

namespace detail {
template <int lanes>
inline constexpr bool kIsGroup = lanes == 2 || lanes == 4 || lanes == 8 || lanes == 16;
}
/// Of groups of so many lanes: x[0] in all of the first group, x[1] in all of the second, …
template <int group>
[[gnu::always_inline]] inline vec repeat_lanes(vec x) {
  static_assert(detail::kIsGroup<group>);
  vec out;
  for (int p = 0; p < detail::kParts; ++p) {
    const int first = p * detail::kWidth / group;
    detail::ints from;
    for (int i = 0; i < detail::kWidth; ++i) from[i] = (first + i / group) % detail::kWidth;
    out.part[p] = __builtin_shuffle(x.part[first / detail::kWidth], from);
  }
  return out;
}
/// The number of each lane in its group of so many: 0, 1, 0, 1, …
template <int group>
[[gnu::always_inline]] inline vec turn_of_lanes() {
  static_assert(detail::kIsGroup<group>);
  vec out;
  for (int p = 0; p < detail::kParts; ++p) {
    for (int i = 0; i < detail::kWidth; ++i) out.part[p][i] = static_cast<float>((p * detail::kWidth + i) % group);
  }
  return out;
}

/// Moves the first `lanes` elements (0 … 16) as they are.
template <class T>
[[gnu::always_inline]] inline void copy(T* out, const T* x, int lanes) {
  if (lanes >= kLanes) {
    __builtin_memcpy(out, x, kLanes * sizeof(T));
    return;
  }
  detail::copy_pieces(out, x, lanes);
}

/// x as a T holds it: what PyTorch computes with after it has stored an intermediate value.
template <class T>
[[gnu::always_inline]] inline vec rounded(vec x) {
  if constexpr (__is_same(T, bfloat16)) {
    // In place: to narrow it and widen it again takes longer. A NaN stays one.
    for (detail::floats& p : x.part) {
      const auto word = (detail::words)p;
      p = p == p ? (detail::floats)((word + 0x7fffu + ((word >> 16) & 1u)) & 0xffff0000u) : p;
    }
    return x;
  }
  T stored[kLanes];
  store(stored, x);
  return load(stored);
}

template <class T>
[[gnu::always_inline]] inline vec relu_before_rounding(vec x) {
  return select(x < -kRoundedToZero<T>, 0.0f, x);
}

template <class T>
[[gnu::always_inline]] inline vec rounded_on_gpu(vec x) {
  return x;
}
template <class T>
[[gnu::always_inline]] inline vec rounded_on_cpu(vec x) {
  return rounded<T>(x);
}

/// Calls body(i, lanes) for first, first + 16, … with lanes = 16, and once with fewer for the rest.
template <class Body>
[[gnu::always_inline]] inline void for_blocks(int64_t first, int64_t last, Body body) {
  int64_t i = first;
  for (; i + kLanes <= last; i += kLanes) body(i, kLanes);
  if (i < last) body(i, static_cast<int>(last - i));
}

/// The same, but where there are 16 the last block begins earlier instead of having fewer: some elements are computed
/// twice. For bodies that only write, and what they read is not what they write.
template <class Body>
[[gnu::always_inline]] inline void cover_blocks(int64_t first, int64_t last, Body body) {
  if (last - first < kLanes) return for_blocks(first, last, body);
  int64_t i = first;
  for (; i + kLanes <= last; i += kLanes) body(i, kLanes);
  if (i < last) body(last - kLanes, kLanes);
}

/// Calls body(i, lanes, blocks) for strips of neighbouring blocks, of which block b begins at i + b * 16: `blocks` is a
/// Count, 4 as long as there are so many and then 1. For kernels that fold down columns: four sums are under way at once,
/// and what is read of a row lies in one piece.
template <class Body>
[[gnu::always_inline]] inline void for_strips(int64_t first, int64_t last, Body body) {
  constexpr int kBlocks = 4;
  int64_t i = first;
  for (; i + kBlocks * kLanes <= last; i += kBlocks * kLanes) body(i, kLanes, Count<kBlocks>());
  for_blocks(
      i, last, [&](int64_t at, int lanes) __attribute__((always_inline)) { body(at, lanes, Count<1>()); });
}

/// The same, but where there are 16 the last block begins earlier instead of having fewer, as cover_blocks has it.
template <class Body>
[[gnu::always_inline]] inline void cover_strips(int64_t first, int64_t last, Body body) {
  const int64_t rest = (last - first) % kLanes;
  if (last - first < kLanes || rest == 0) return for_strips(first, last, body);
  for_strips(first, last - rest, body);
  body(last - kLanes, kLanes, Count<1>());
}

namespace detail {
// GCC 12 and clang know this builtin; lanes are 0 … kWidth - 1 of a, then of b.
[[gnu::always_inline]] inline floats interleave_low(floats a, floats b) {
#if defined(PASSNET_AVX512_)
  return __builtin_shufflevector(a, b, 0, 16, 1, 17, 2, 18, 3, 19, 4, 20, 5, 21, 6, 22, 7, 23);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 0, 8, 1, 9, 2, 10, 3, 11);
#else
  return __builtin_shufflevector(a, b, 0, 4, 1, 5);
#endif
}
[[gnu::always_inline]] inline floats interleave_high(floats a, floats b) {
#if defined(PASSNET_AVX512_)
  return __builtin_shufflevector(a, b, 8, 24, 9, 25, 10, 26, 11, 27, 12, 28, 13, 29, 14, 30, 15, 31);
#elif defined(__AVX2__)
  return __builtin_shufflevector(a, b, 4, 12, 5, 13, 6, 14, 7, 15);
#else
  return __builtin_shufflevector(a, b, 2, 6, 3, 7);
#endif
}

/// Lane i of vector k becomes lane k of vector i. Each round doubles the runs that lie as they should.
[[gnu::always_inline]] inline void transpose(floats (&x)[kWidth]) {
  for (int run = 1; run < kWidth; run *= 2) {
    floats next[kWidth];
    for (int k = 0; k < kWidth / 2; ++k) {
      next[2 * k] = interleave_low(x[k], x[k + kWidth / 2]);
      next[2 * k + 1] = interleave_high(x[k], x[k + kWidth / 2]);
    }
    for (int k = 0; k < kWidth; ++k) x[k] = next[k];
  }
}

/// Elements i … i + kWidth - 1 of the rows. column_at(i): where element i of the first row is.
template <class ColumnAt, class Out>
[[gnu::always_inline]] inline void turn_columns(ColumnAt column_at, int64_t pitch, int rows, int64_t i, Out* out) {
  vec columns[kWidth];
  for (int k = 0; k < kWidth; ++k) columns[k] = load(column_at(i + k), rows);
  for (int p = 0; p < kParts && p * kWidth < rows; ++p) {
    floats block[kWidth];
    for (int k = 0; k < kWidth; ++k) block[k] = columns[k].part[p];
    transpose(block);
    for (int r = 0; r < kWidth && p * kWidth + r < rows; ++r) store_part(out + (p * kWidth + r) * pitch + i, block[r]);
  }
}

/// As turn_rows, to rows that begin `pitch` apart and are of any type.
template <class ColumnAt, class Out>
[[gnu::always_inline]] inline void turn_to(ColumnAt column_at, int64_t width, int rows, int64_t pitch, Out* out) {
  if (width < kWidth) {
    for (int64_t i = 0; i < width; ++i) {
      const vec column = load(column_at(i), rows);
      for (int r = 0; r < rows; ++r) out[r * pitch + i] = from_float<Out>(column[r]);
    }
    return;
  }
  int64_t i = 0;
  for (; i + kWidth <= width; i += kWidth) turn_columns(column_at, pitch, rows, i, out);
  if (i < width) turn_columns(column_at, pitch, rows, width - kWidth, out);
}
}  // namespace detail

/// Copies up to 16 rows that lie beside each other, whose own elements lie `step` apart, so that each lies in one piece:
/// element i of row r, x[i * step + r], becomes out[r * width + i], a float.
template <class T>
inline void turn_rows(const T* x, int64_t step, int64_t width, int64_t rows, float* out) {
  detail::turn_to([=](int64_t i) { return x + i * step; }, width, static_cast<int>(rows), width, out);
}

/// The same for any number of rows, of which the elements i lie at column_at(i) and after it.
template <class ColumnAt>
inline void turn_tile(ColumnAt column_at, int64_t width, int64_t rows, float* out) {
  for (int64_t r = 0; r < rows; r += kLanes)
    detail::turn_to([&](int64_t i) { return column_at(i) + r; }, width,
                    static_cast<int>(rows - r < kLanes ? rows - r : kLanes), width, out + r * width);
}
/// The same where they lie `step` apart.
template <class T>
inline void turn_tile(const T* x, int64_t step, int64_t width, int64_t rows, float* out) {
  turn_tile([=](int64_t i) { return x + i * step; }, width, rows, out);
}

/// Converts n elements to floats, and back.
template <class T>
inline void to_floats(const T* x, int64_t n, float* out) {
  for_blocks(
      0, n, [&](int64_t i, int lanes) __attribute__((always_inline)) { store(out + i, load(x + i, lanes), lanes); });
}
template <class T>
inline void from_floats(const float* x, int64_t n, T* out) {
  for_blocks(
      0, n, [&](int64_t i, int lanes) __attribute__((always_inline)) { store(out + i, load(x + i, lanes), lanes); });
}

/// A row of a picture with what lies beside it, as floats: out[i] = x[i] where 0 <= at + i < extent, and `otherwise` beside it,
/// of n elements. What lies beside it is not read.
template <class T>
inline void pad_row(const T* x, int64_t at, int64_t extent, int64_t n, float otherwise, float* out) {
  const int64_t before = at >= 0 ? 0 : -at < n ? -at : n;
  const int64_t end = extent - at <= before ? before : extent - at < n ? extent - at : n;
  for (int64_t i = 0; i < before; ++i) out[i] = otherwise;
  to_floats(x + before, end - before, out + before);
  for (int64_t i = end; i < n; ++i) out[i] = otherwise;
}

}  // namespace passnet
