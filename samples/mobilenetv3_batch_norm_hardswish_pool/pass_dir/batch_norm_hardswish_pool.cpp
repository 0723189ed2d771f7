// activated = hardswish(x * scale[c] + shift[c]); pooled = its mean over each plane of N elements.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL batch_norm_hardswish_pool_kernel(const T* x, const T* mean, const T* variance, const T* weight,
                                                const T* bias, T* activated, T* pooled, int64_t planes,
                                                int64_t channels, float eps) {
  const auto [first, last] = chunk(planes, 1);
  for (int64_t plane = first; plane < last; ++plane) {
    const int64_t c = plane % channels, at = plane * N;
    const float scale = to_float(weight[c]) * rsqrt(to_float(variance[c]) + eps);
    const float shift = to_float(bias[c]) - to_float(mean[c]) * scale;
    const float total = sum_of(N, [&](int64_t i, int lanes) {
      const vec value = rounded<T>(hardswish(rounded<T>(fma(load(x + at + i, lanes), scale, shift))));
      store(activated + at + i, value, lanes);
      return value;
    });
    pooled[plane] = from_float<T>(total / static_cast<float>(N));
  }
}
