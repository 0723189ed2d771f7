#include <passnet/kernel.h>

PASSNET_KERNEL add_norm_kernel(const float* x, const float* y, const float* weight, const float* bias, float* total,
                               float* normed, int64_t rows) {
  using namespace passnet;
  const auto [first, last] = chunk(rows, 1);
  for (int64_t row = first; row < last; ++row) {
    const int64_t at = row * 64;
    float values[64];
    for_blocks(0, 64, [&](int64_t i, int lanes) {
      const vec sum = load(x + at + i, lanes) + load(y + at + i, lanes);
      store(total + at + i, sum, lanes);
      store(values + i, sum, lanes);
    });
    const auto [mean, variance] = moments(values, 64);
    const float scale = rsqrt(variance + 1e-5f);
    for_blocks(0, 64, [&](int64_t i, int lanes) {
      store(normed + at + i,
            fma((load(values + i, lanes) - mean) * scale, load(weight + i, lanes), load(bias + i, lanes)), lanes);
    });
  }
}
