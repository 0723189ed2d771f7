#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, const float* y, float* out, int64_t rows, int64_t columns, int64_t stride) {
  const auto [first, last] = passnet::chunk(columns, 1);
  for (int64_t j = first; j < last; ++j)
    for (int64_t i = 0; i < rows; ++i) out[j * rows + i] = x[j * stride + i] + y[i * columns + j];
}
