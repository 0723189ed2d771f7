#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  if (i < n) out[i] = *reinterpret_cast<const float*>(reinterpret_cast<const char*>(x) + 4 * i + 1);
}
