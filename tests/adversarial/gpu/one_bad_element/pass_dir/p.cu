#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  if (i < n) out[i] = x[i] > 0 ? x[i] : 0;
  if (i == 777777) out[i] += 0.001f;
}
