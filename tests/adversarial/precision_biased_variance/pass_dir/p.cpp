#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) {
    float mean = 0, squares = 0;
    for (int i = 0; i < 256; ++i) mean += x[row * 256 + i] / 256;
    for (int i = 0; i < 256; ++i) squares += (x[row * 256 + i] - mean) * (x[row * 256 + i] - mean);
    out[row] = squares / 256;
  }
}
