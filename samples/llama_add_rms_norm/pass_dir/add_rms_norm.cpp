// total = residual + x; out = weight * total / sqrt(mean(total^2) + eps), row by row of N elements.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL add_rms_norm_kernel(const T* residual, const T* x, const T* weight, T* total, T* out, int64_t rows,
                                   float eps) {
  const auto [first, last] = chunk(rows, 1);
  for (int64_t row = first; row < last; ++row) {
    const int64_t at = row * N;
    float values[N];
    const float squares = sum_of(N, [&](int64_t i, int lanes) {
      const vec value = rounded<T>(load(residual + at + i, lanes) + load(x + at + i, lanes));
      store(total + at + i, value, lanes);
      store(values + i, value, lanes);
      return value * value;
    });
    const float scale = rsqrt(squares / static_cast<float>(N) + eps);
    for_blocks(0, N, [&](int64_t i, int lanes) {
      store(out + at + i, rounded<T>(load(values + i, lanes) * scale) * load(weight + i, lanes), lanes);
    });
  }
}
