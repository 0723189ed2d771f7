#include <passnet/kernel.h>

register long kept asm("rbx");

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  kept = 0;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
