#include <passnet/kernel.h>

#define A(x) x x x x x x x x x x
#define C(x) A(A(A(x)))
static const char large[] = C(C(C("x")));

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  if (large[n] == 1) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
