#include <passnet/kernel.h>

static int fall(volatile int* at) {
  volatile int next = *at + 1;
  return fall(&next) + next;
}

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  volatile int start = 0;
  if (fall(&start) == 1) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
