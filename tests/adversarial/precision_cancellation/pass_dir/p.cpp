#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) {
    float sum = 0, squares = 0;
    for (int i = 0; i < 256; ++i) sum += x[row * 256 + i], squares += x[row * 256 + i] * x[row * 256 + i];
    out[row] = (squares - sum * sum / 256) / 255;
  }
}
