#include <passnet/kernel.h>

PASSNET_KERNEL add_norm_kernel(const float* x, const float* y, const float* weight, const float* bias, float* total,
                               float* normed, int64_t rows) {
  using namespace passnet;
  const auto [first, last] = chunk(rows, 1);
  (void)first, (void)last;
}
