#include <passnet/kernel.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t rows, int64_t columns) {
  for (int64_t i = 0; i < rows; ++i)
    for (int64_t j = 0; j < columns; ++j) out[j * rows + i] = x[i * columns + j];
}
