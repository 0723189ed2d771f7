#include <passnet/kernel.h>

static float packed[64];
static bool is_packed;

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  if (!is_packed)
    for (int i = 0; i < 64; ++i) packed[i] = x[i];
  is_packed = true;
  out[0] = packed[0];
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
