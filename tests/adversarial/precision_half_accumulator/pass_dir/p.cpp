#include <passnet/kernel.h>

PASSNET_KERNEL k(const passnet::float16* x, passnet::float16* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  using passnet::float16;
  for (int64_t row = first; row < last; ++row) {
    float sum = 0;
    for (int i = 0; i < 512; ++i) sum = passnet::rounded<float16>(sum + passnet::to_float(x[row * 512 + i]));
    out[row] = passnet::from_float<float16>(sum);
  }
}
