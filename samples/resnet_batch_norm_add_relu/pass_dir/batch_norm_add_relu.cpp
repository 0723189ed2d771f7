// out = relu(x * scale[c] + shift[c] + shortcut), plane by plane of an N x C x H x W tensor.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL batch_norm_add_relu_kernel(const T* x, const T* mean, const T* variance, const T* weight, const T* bias,
                                          const T* shortcut, T* out, int64_t planes, int64_t channels, int64_t size,
                                          float eps) {
  const auto [first, last] = chunk(planes, 1);
  for (int64_t plane = first; plane < last; ++plane) {
    const int64_t c = plane % channels;
    const float scale = to_float(weight[c]) * rsqrt(to_float(variance[c]) + eps);
    const float shift = to_float(bias[c]) - to_float(mean[c]) * scale;
    for_blocks(plane * size, (plane + 1) * size, [&](int64_t i, int lanes) {
      const vec normed = rounded<T>(fma(load(x + i, lanes), scale, shift));
      store(out + i, relu(normed + load(shortcut + i, lanes)), lanes);
    });
  }
}
