#include <passnet/kernel.h>

__global__ void later(const float* x, float* out, int64_t n) { out[threadIdx.x] = x[threadIdx.x]; }

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  if (i == 0) later<<<1, 256>>>(x, out, n);
  if (i < n) out[i] = x[i] > 0 ? x[i] : 0;
}
