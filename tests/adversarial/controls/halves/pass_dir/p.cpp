#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n, int64_t width) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row)
    for (int64_t i = 0; i < width; ++i)
      out[row * width + i] = passnet::silu(x[row * 2 * width + i]) * x[(row * 2 + 1) * width + i];
}
