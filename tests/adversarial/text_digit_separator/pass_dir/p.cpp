#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  const int thousand = 1'000;
  asm volatile("rdtsc" : : : "rax", "rdx");
  const int more = 2'000;
  if (thousand == more) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
