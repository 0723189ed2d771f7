#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) {
    float sum = 0;
    for (int block = 0; block < 1024; block += 32) {
      float part = 0;
      for (int i = 0; i < 32; ++i) part += x[row * 1024 + block + i];
      sum += part;
    }
    out[row] = sum / 1024;
  }
}
