#include <passnet/kernel.h>

constexpr long spin() {
  long a = 0;
  for (long i = 0; i < 1000000000000; ++i) a += i;
  return a;
}
static constexpr long spun = spin();

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  if (spun == 1) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
