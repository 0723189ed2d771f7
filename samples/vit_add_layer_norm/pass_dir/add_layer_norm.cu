// total = residual + x; normed = (total - mean) / sqrt(variance + eps) * weight + bias, a row of N per THREADS threads.
#include <passnet/kernel.h>

using namespace passnet;

PASSNET_KERNEL add_layer_norm_kernel(const T* residual, const T* x, const T* weight, const T* bias, T* total,
                                     T* normed, int64_t rows, float eps) {
  using Row = passnet::Row<T, N, THREADS>;
  const int64_t row = Row::index(), at = row * N;
  if (row >= rows) return;
  // All reads are under way before the first value is needed.
  const Row left = Row::load(residual + at), right = Row::load(x + at);
  const Row gain = Row::load(weight), shift = Row::load(bias);
  // PyTorch normalises the sum as rounded to T.
  const Row values = map([](float a, float b) { return rounded<T>(a + b); }, left, right);
  values.store(total + at);
  layer_norm(values, gain, shift, eps).store(normed + at);
}
