#include <passnet/kernel.h>

__attribute__((target_clones("avx2", "default"), noinline)) static float twice(float a) { return a + a; }

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  if (twice(x[0]) == 1e30f) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
