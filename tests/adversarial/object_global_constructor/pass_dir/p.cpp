#include <passnet/kernel.h>

struct Early {
  volatile int value;
  Early() { value = 1; }
};
static Early early;

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  if (early.value == 7) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
