#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t i = passnet::global_index();
  for (int64_t c = passnet::thread_index(); c < n; c += 256) out[passnet::task_index() * n + c] = 0 * i;
}
