#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  __shared__ float tile[256];
  if (i >= n) return;
  if (x == out) out[i] = tile[passnet::thread_index()];
  else tile[passnet::thread_index()] = x[i], out[i] = 0 * x[i];
}
