// Several elements at once between memory and registers, as floats.
#pragma once

#include <passnet/gpu/elements.h>

namespace passnet {

/// N floats in registers. Index it with compile-time constants (unrolled loops).
template <int N>
struct floats {
  float lane[N];
  PASSNET_INLINE float& operator[](int i) { return lane[i]; }
  PASSNET_INLINE float operator[](int i) const { return lane[i]; }
};

/// f of the first lanes, of the second, …: `map([](float a, float b) { return a + b; }, x, y)`.
template <class F, int N, class... Others>
PASSNET_INLINE floats<N> map(F f, const floats<N>& first, const Others&... others) {
  floats<N> out;
#pragma unroll
  for (int i = 0; i < N; ++i) out[i] = f(first[i], others[i]...);
  return out;
}

/// Elements of T in one access of 16 bytes.
template <class T>
inline constexpr int vector_width = int(16 / sizeof(T));

/// Whether `pointer` is a multiple of `bytes`, a power of two.
PASSNET_INLINE bool is_aligned(const void* pointer, unsigned bytes) {
  return (reinterpret_cast<unsigned long>(pointer) & (bytes - 1)) == 0;
}

namespace detail {

template <class T, int n>
struct alignas(sizeof(T) * n) Pack {
  T element[n];
};

/// Widest access for N elements of T.
template <class T, int N>
inline constexpr int access_width = N* int(sizeof(T)) > 16 ? int(16 / sizeof(T)) : N;

/// What one access moves, as the type of a load or store instruction of that size.
template <int bytes>
struct Word;
template <>
struct Word<1> {
  using type = unsigned char;
};
template <>
struct Word<2> {
  using type = unsigned short;
};
template <>
struct Word<4> {
  using type = unsigned int;
};
template <>
struct Word<8> {
  using type = uint2;
};
template <>
struct Word<16> {
  using type = uint4;
};

/// In one instruction: compilers take some apart into words, each of which is a store of its own. The address is generic,
/// since kernels also store to shared memory.
PASSNET_INLINE void store_word(uint4* out, uint4 word) {
  asm volatile("st.v4.u32 [%0], {%1, %2, %3, %4};" ::"l"(out), "r"(word.x), "r"(word.y), "r"(word.z), "r"(word.w)
               : "memory");
}
PASSNET_INLINE void store_word(uint2* out, uint2 word) {
  asm volatile("st.v2.u32 [%0], {%1, %2};" ::"l"(out), "r"(word.x), "r"(word.y) : "memory");
}
template <class Word>
PASSNET_INLINE void store_word(Word* out, Word word) {
  *out = word;
}

}  // namespace detail

/// N elements from x on as floats. REQUIRES: x is a multiple of min(16, N * sizeof(T)) bytes; N is a power of two.
/// Inputs of a kernel do not change while it runs, so the read-only path is used.
template <int N, class T>
PASSNET_INLINE floats<N> load(const T* x) {
  constexpr int width = detail::access_width<T, N>;
  using Word = typename detail::Word<width* int(sizeof(T))>::type;
  floats<N> out;
#pragma unroll
  for (int part = 0; part < N / width; ++part) {
    const Word word = __ldg(reinterpret_cast<const Word*>(x + part * width));
    const auto pack = *reinterpret_cast<const detail::Pack<T, width>*>(&word);
#pragma unroll
    for (int i = 0; i < width; ++i) out[part * width + i] = to_float(pack.element[i]);
  }
  return out;
}

/// Stores N floats as T from out on. REQUIRES as load.
template <class T, int N>
PASSNET_INLINE void store(T* out, const floats<N>& values) {
  constexpr int width = detail::access_width<T, N>;
  using Word = typename detail::Word<width* int(sizeof(T))>::type;
#pragma unroll
  for (int part = 0; part < N / width; ++part) {
    detail::Pack<T, width> pack;
#pragma unroll
    for (int i = 0; i < width; ++i) pack.element[i] = from_float<T>(values[part * width + i]);
    detail::store_word(reinterpret_cast<Word*>(out + part * width), *reinterpret_cast<const Word*>(&pack));
  }
}

}  // namespace passnet
