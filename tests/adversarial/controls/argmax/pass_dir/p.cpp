#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, int64_t* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t row = first; row < last; ++row) {
    int64_t best = 0;
    for (int64_t i = 1; i < 64; ++i)
      if (x[row * 64 + i] > x[row * 64 + best]) best = i;
    out[row] = best;
  }
}
