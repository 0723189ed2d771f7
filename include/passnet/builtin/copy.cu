// Copies n elements from one layout to another, one per thread; see copy.cpp.
#include <passnet/kernel.h>

using namespace passnet;

template <class A, class B>
constexpr bool kSame = false;
template <class A>
constexpr bool kSame<A, A> = true;

template <class To, class From>
__device__ To converted(From value) {
  if constexpr (kSame<To, bool>)
    return value != From(0);
  else if constexpr (sizeof(To) == 2 && !kSame<To, int16_t>)
    return from_float<To>(static_cast<float>(value));
  else if constexpr (sizeof(From) == 2 && !kSame<From, int16_t>)
    return static_cast<To>(static_cast<float>(value));
  else
    return static_cast<To>(value);
}

PASSNET_KERNEL passnet_copy(const FROM* from, TO* to, int64_t n, int64_t n0, int64_t n1, int64_t n2, int64_t n3,
                            int64_t n4, int64_t n5, int64_t n6, int64_t n7, int64_t f0, int64_t f1, int64_t f2,
                            int64_t f3, int64_t f4, int64_t f5, int64_t f6, int64_t f7, int64_t t0, int64_t t1,
                            int64_t t2, int64_t t3, int64_t t4, int64_t t5, int64_t t6, int64_t t7) {
  const int64_t i = global_index();
  if (i >= n) return;
  if (DENSE) {
    to[i] = converted<TO>(from[i]);
    return;
  }
  const int64_t sizes[] = {n0, n1, n2, n3, n4, n5, n6, n7};
  const int64_t from_strides[] = {f0, f1, f2, f3, f4, f5, f6, f7};
  const int64_t to_strides[] = {t0, t1, t2, t3, t4, t5, t6, t7};
  int64_t source = 0, target = 0, rest = i;
#pragma unroll
  for (int64_t dim = 0; dim < RANK; ++dim) {
    const int64_t at = rest % sizes[dim];
    rest /= sizes[dim];
    source += at * from_strides[dim];
    target += at * to_strides[dim];
  }
  to[target] = converted<TO>(from[source]);
}
