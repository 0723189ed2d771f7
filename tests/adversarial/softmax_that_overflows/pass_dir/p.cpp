#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) {
    const float* a = x + row * 4096;
    const float total =
        passnet::sum_of(4096, [&](int64_t i, int lanes) { return passnet::exp(passnet::load(a + i, lanes)); });
    for (int i = 0; i < 4096; ++i) out[row * 4096 + i] = passnet::exp(a[i]) / total;
  }
}
