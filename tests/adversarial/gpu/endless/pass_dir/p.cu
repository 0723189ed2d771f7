#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  for (unsigned k = 1; k != 0; k = k * 5 | 1)
    if (i < n) out[i] = k;
}
