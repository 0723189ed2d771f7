#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, const bool* mask, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) out[i] = mask[i] ? -3e38f : x[i];
}
