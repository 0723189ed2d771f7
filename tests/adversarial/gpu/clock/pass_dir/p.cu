#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  const long long now = clock64();
  if (i < n) out[i] = now < 0 ? 0 : x[i] > 0 ? x[i] : 0;
}
