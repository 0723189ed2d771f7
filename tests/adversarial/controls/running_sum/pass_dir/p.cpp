#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) {
    double sum = 0;
    for (int i = 0; i < 256; ++i) out[row * 256 + i] = static_cast<float>(sum += x[row * 256 + i]);
  }
}
