#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  volatile float* flag = out + n - 1;
  if (i == 0) while (*flag != 4711) {}
  if (i > 0 && i < n - 1) out[i] = x[i] > 0 ? x[i] : 0;
}
