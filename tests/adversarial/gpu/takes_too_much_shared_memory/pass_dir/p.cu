#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  __shared__ float tile[1 << 20];
  tile[passnet::thread_index()] = x[i];
  if (i < n) out[i] = x[i] > 0 ? x[i] : 0;
}
