#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) {
    const float* a = x + row * 131072;
    float highest = a[0];
    for (int i = 1; i < 131072; ++i) highest = passnet::max(highest, a[i]);
    double total = 0;
    for (int i = 0; i < 131072; ++i) total += passnet::exp(a[i] - highest);
    for (int i = 0; i < 131072; ++i) out[row * 131072 + i] = static_cast<float>(passnet::exp(a[i] - highest) / total);
  }
}
