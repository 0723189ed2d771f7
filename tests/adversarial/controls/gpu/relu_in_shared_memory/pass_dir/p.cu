#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  __shared__ float tile[256];
  const int64_t t = passnet::thread_index();
  tile[t] = i < n ? x[i] : 0;
  __syncthreads();
  if (i < n) out[i] = tile[t] > 0 ? tile[t] : 0;
}
