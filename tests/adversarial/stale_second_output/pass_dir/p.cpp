#include <passnet/kernel.h>

PASSNET_KERNEL add_norm_kernel(const float* x, const float* y, const float* weight, const float* bias, float* total,
                               float* normed, int64_t rows) {
  using namespace passnet;
  const auto [first, last] = chunk(rows, 1);
  for (int64_t i = first * 64; i < last * 64; ++i) total[i] = x[i] + y[i];
}
