#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  const int64_t j = n - 1 - i;
  if (i < n) out[j] = x[j] > 0 ? x[j] : 0;
}
