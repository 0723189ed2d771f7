// out = softmax(scores * scale + mask) over rows of N; all heads of a batch entry share its mask.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL scale_mask_softmax_kernel(const T* scores, const T* mask, T* out, int64_t rows, int64_t rows_per_batch,
                                         int64_t queries, int64_t mask_step, float scale) {
  const auto [first, last] = chunk(rows, 1);
  for (int64_t row = first; row < last; ++row) {
    const T* const in = scores + row * N;
    const T* const add = mask + row / rows_per_batch * mask_step + row % queries * N;
    float values[N];
    const float top = max_of(N, [&](int64_t i, int lanes) {
      const vec value = rounded<T>(load(in + i, lanes) * scale) + load(add + i, lanes);
      store(values + i, rounded<T>(value), lanes);
      return rounded<T>(value);
    });
    const float total = sum_of(N, [&](int64_t i, int lanes) {
      const vec power = exp(load(values + i, lanes) - top);
      store(values + i, power, lanes);
      return power;
    });
    const float factor = 1.0f / total;
    for_blocks(0, N, [&](int64_t i, int lanes) { store(out + row * N + i, load(values + i, lanes) * factor, lanes); });
  }
}
