#include <passnet/kernel.h>

extern "C" int clock_gettime(int, long*);

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  long now[2];
  if (clock_gettime(1, now) == 1) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
