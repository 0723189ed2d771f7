#include <passnet/kernel.h>

__constant__ float table[2] = {1, 2};

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  const_cast<float*>(table)[0] = 1;
  if (i < n) out[i] = x[i] * table[0] > 0 ? x[i] : 0;
}
