#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) out[row] = passnet::moments(x + row * 256, 256).variance * 256 / 255;
}
