// total = residual + x; out = weight * total / sqrt(mean(total^2) + eps), a row of N elements per THREADS threads.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL add_rms_norm_kernel(const T* residual, const T* x, const T* weight, T* total, T* out, int64_t rows,
                                   float eps) {
  using Row = passnet::Row<T, N, THREADS>;
  const int64_t row = Row::index(), at = row * N;
  if (row >= rows) return;
  // All reads are under way before the first value is needed.
  const Row left = Row::load(residual + at), right = Row::load(x + at), gain = Row::load(weight);
  const Row values = map([](float a, float b) { return rounded<T>(a + b); }, left, right);
  values.store(total + at);
  const float scale = rsqrt(multiply(values.sum([](float v) { return v * v; }), 1.0f / float(N)) + eps);
  map([&](float v, float g) { return rounded<T>(v * scale) * g; }, values, gain).store(out + at);
}
