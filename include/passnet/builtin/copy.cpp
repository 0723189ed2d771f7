// Copies n elements from one layout to another, as a plan's contiguous(), to(), clone() and copy_() ask for it. RANK loops,
// the innermost first: sizes, and strides on both sides in elements.
#include <passnet/kernel.h>

using namespace passnet;

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

// PyTorch's conversions: 16-bit numbers by way of float, truth by comparison with zero.
template <class To, class From>
static To converted(From value) {
  if constexpr (kSame<To, bool>)
    return value != From(0);
  else if constexpr (sizeof(To) == 2 && !kSame<To, int16_t>)
    return To(static_cast<float>(value));
  else if constexpr (sizeof(From) == 2 && !kSame<From, int16_t>)
    return static_cast<To>(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

PASSNET_KERNEL passnet_copy(const FROM* from, TO* to, int64_t n, int64_t n0, int64_t n1, int64_t n2, int64_t n3,
                            int64_t n4, int64_t n5, int64_t n6, int64_t n7, int64_t f0, int64_t f1, int64_t f2,
                            int64_t f3, int64_t f4, int64_t f5, int64_t f6, int64_t f7, int64_t t0, int64_t t1,
                            int64_t t2, int64_t t3, int64_t t4, int64_t t5, int64_t t6, int64_t t7) {
  const int64_t sizes[] = {n0, n1, n2, n3, n4, n5, n6, n7};
  const int64_t from_strides[] = {f0, f1, f2, f3, f4, f5, f6, f7};
  const int64_t to_strides[] = {t0, t1, t2, t3, t4, t5, t6, t7};
  const auto [first, last] = chunk(n);
  if (DENSE) {
    for (int64_t i = first; i < last; ++i) to[i] = converted<TO>(from[i]);
    return;
  }
  int64_t at[RANK], source = 0, target = 0;
  for (int64_t dim = 0, rest = first; dim < RANK; ++dim) {
    at[dim] = rest % sizes[dim];
    rest /= sizes[dim];
    source += at[dim] * from_strides[dim];
    target += at[dim] * to_strides[dim];
  }
  for (int64_t i = first; i < last; ++i) {
    to[target] = converted<TO>(from[source]);
    for (int64_t dim = 0; dim < RANK; ++dim) {
      source += from_strides[dim];
      target += to_strides[dim];
      if (++at[dim] < sizes[dim]) break;
      source -= sizes[dim] * from_strides[dim];
      target -= sizes[dim] * to_strides[dim];
      at[dim] = 0;
    }
  }
}
