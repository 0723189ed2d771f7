// out = relu(batch_norm(x) + shortcut) of an N x C x H x W tensor with planes of SIZE elements; V elements per thread.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL batch_norm_add_relu_kernel(const T* x, const T* mean, const T* variance, const T* weight, const T* bias,
                                          const T* shortcut, T* out, int64_t planes, float eps) {
  const int64_t i = global_index() * V;
  if (i >= planes * SIZE) return;
  const auto values = load<V>(x + i), added = load<V>(shortcut + i);
  const int64_t c = Divided<CHANNELS>(Divided<SIZE>(i).quotient).remainder;
  const float center = to_float(mean[c]), gain = to_float(weight[c]), shift = to_float(bias[c]);
  const float scale = rsqrt(to_float(variance[c]) + eps);
  const auto normed = [&](float v, float s) { return relu(rounded<T>(gain * (v - center) * scale + shift) + s); };
  store(out + i, map(normed, values, added));
}
