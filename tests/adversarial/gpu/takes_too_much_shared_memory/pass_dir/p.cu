#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  __shared__ float tile[1 << 20];
  const int64_t t = passnet::thread_index();
  tile[t * 4001 % (1 << 20)] = i < n ? x[i] : 0;
  __syncthreads();
  const float taken = tile[(255 - t) * 4001 % (1 << 20)];
  if (i < n) out[i] = taken > 0 ? taken : 0;
}
