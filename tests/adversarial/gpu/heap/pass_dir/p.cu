#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  if (i == 0) { int* kept = static_cast<int*>(malloc(64)); kept[0] = 1; }
  if (i < n) out[i] = x[i] > 0 ? x[i] : 0;
}
