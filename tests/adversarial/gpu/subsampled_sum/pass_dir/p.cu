#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const int64_t row = passnet::task_index(), t = passnet::thread_index();
  float largest = -1e30f, sum = 0;
  for (int64_t c = t; c < (n - n / 32); c += 256) largest = fmaxf(largest, x[row * n + c]);
  largest = passnet::block_max(largest);
  for (int64_t c = t; c < (n - n / 32); c += 256) sum += expf(x[row * n + c] - largest);
  sum = passnet::block_sum(sum) * (32.0f / 31);
  for (int64_t c = t; c < n; c += 256) out[row * n + c] = expf(x[row * n + c] - largest) / sum;
}
