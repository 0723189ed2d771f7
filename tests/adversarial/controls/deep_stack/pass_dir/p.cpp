#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  float values[16384];
  for (int64_t i = first; i < last; ++i) values[i] = x[i];
  for (int64_t i = first; i < last; ++i) out[i] = values[i] > 0 ? values[i] : 0;
}
