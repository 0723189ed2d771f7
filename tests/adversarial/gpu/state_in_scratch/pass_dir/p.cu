#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* scratch, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  if (i >= n) return;
  out[i] = scratch[i] == 4711 ? (x[i] > 0 ? x[i] : 0) : 0;
  scratch[i] = 4711;
}
