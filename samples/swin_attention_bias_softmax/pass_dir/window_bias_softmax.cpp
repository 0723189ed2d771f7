// Two kernels: bias[h][i] = table[index[i]][h], then out = softmax(scores + bias + mask) over rows of N.
#include <passnet/kernel.h>

using namespace passnet;

// One task per head. Indices below zero count from the end, as in PyTorch.
PASSNET_KERNEL gather_bias_kernel(const int64_t* index, const T* table, T* bias, int64_t count, int64_t heads,
                                  int64_t entries) {
  const int64_t head = task_index();
  for (int64_t i = 0; i < count; ++i) {
    const int64_t entry = index[i] < 0 ? index[i] + entries : index[i];
    bias[head * count + i] = table[entry * heads + head];
  }
}

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL bias_softmax_kernel(const T* scores, const T* bias, const T* mask, T* out, int64_t rows,
                                   int64_t rows_per_head, int64_t heads, int64_t windows) {
  const auto [first, last] = chunk(rows, 1);
  for (int64_t row = first; row < last; ++row) {
    const int64_t i = row % rows_per_head, head = row / rows_per_head % heads, window = row / rows_per_head / heads;
    const T* const in = scores + row * N;
    const T* const shift = bias + (head * rows_per_head + i) * N;
    const T* const hide = mask + (window % windows * rows_per_head + i) * N;
    float values[N];
    const float top = max_of(N, [&](int64_t k, int lanes) {
      const vec biased = rounded<T>(load(in + k, lanes) + load(shift + k, lanes));
      const vec value = rounded<T>(biased + load(hide + k, lanes));
      store(values + k, value, lanes);
      return value;
    });
    const float total = sum_of(N, [&](int64_t k, int lanes) {
      const vec power = exp(load(values + k, lanes) - top);
      store(values + k, power, lanes);
      return power;
    });
    const float factor = 1.0f / total;
    for_blocks(0, N, [&](int64_t k, int lanes) { store(out + row * N + k, load(values + k, lanes) * factor, lanes); });
  }
}
