#include <passnet/kernel.h>

PASSNET_KERNEL add_norm_kernel(const float* x, const float* y, const float* weight, const float* bias, float* total,
                               float* normed, int64_t rows) {
  using namespace passnet;
  const auto [first, last] = chunk(rows, 1);
  for (int64_t row = first; row < last; ++row) {
    const float *a = x + row * 64, *b = y + row * 64;
    float *sum = total + row * 64, *out = normed + row * 64;
    float mean = 0, variance = 0;
    for (int i = 0; i < 64; ++i) mean += (sum[i] = a[i] + b[i]) / 64;
    for (int i = 0; i < 64; ++i) variance += (sum[i] - mean) * (sum[i] - mean) / 64;
    for (int i = 0; i < 64; ++i) out[i] = (sum[i] - mean) * rsqrt(variance + 1e-5f) * weight[i] + bias[i];
  }
}
