// activated = hardswish(batch_norm(x)); pooled = its mean over each plane of N elements, one plane per THREADS threads.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL batch_norm_hardswish_pool_kernel(const T* x, const T* mean, const T* variance, const T* weight,
                                                const T* bias, T* activated, T* pooled, int64_t planes, float eps) {
  using Row = passnet::Row<T, N, THREADS>;
  const int64_t plane = Row::index();
  if (plane >= planes) return;
  const Row values = Row::load(x + plane * N);
  const int64_t c = Divided<CHANNELS>(plane).remainder;
  const float center = to_float(mean[c]), gain = to_float(weight[c]), shift = to_float(bias[c]);
  const float scale = rsqrt(to_float(variance[c]) + eps);
  const Row bent = map(
      [&](float v) { return rounded<T>(hardswish(rounded<T>(gain * (v - center) * scale + shift))); }, values);
  bent.store(activated + plane * N);
  const float total = bent.sum();
  if (thread_index() % THREADS == 0) pooled[plane] = from_float<T>(total * (1.0f / float(N)));
}
