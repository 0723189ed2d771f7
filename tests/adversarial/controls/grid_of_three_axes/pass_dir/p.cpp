#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out) {
  const int64_t task = (passnet::task_index(2) * 3 + passnet::task_index(1)) * 4 + passnet::task_index(0);
  for (int64_t i = task * 80; i < task * 80 + 80; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
