// out = normalize(sum of tokens * mask / max(sum of mask, least)), one sentence of LENGTH tokens per block.
#include <passnet/kernel.h>

using namespace passnet;

// The block is SLICES groups of threads. A group adds up every SLICES-th token, V columns per thread and step; then the
// groups' sums are added, so that most of a sentence is on its way from memory at once.
PASSNET_KERNEL mean_pooling_kernel(const int64_t* mask, const T* tokens, float* out, float least) {
  constexpr int group = thread_count / SLICES, parts = ceil_div(int(N), group * int(V));
  constexpr int steps = ceil_div(int(LENGTH), int(SLICES)), columns = ceil_div(int(N), int(thread_count));
  __shared__ float sums[SLICES * N];
  const int64_t* const weights = mask + int64_t(task_index()) * LENGTH;
  const T* const first = tokens + int64_t(task_index()) * LENGTH * N;
  const int slice = thread_index() / group;

  float count = 0.0f;
  for (int token = thread_index(); token < LENGTH; token += thread_count) count += float(weights[token]);

#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int column = (part * group + thread_index() % group) * int(V);
    if (column >= N) continue;
    floats<V> total{};
#pragma unroll 8
    for (int step = 0; step < steps; ++step) {
      const int token = step * int(SLICES) + slice;
      if (token >= LENGTH) continue;
      const float weight = float(weights[token]);
      const auto values = load<V>(first + int64_t(token) * N + column);
      total = map([&](float sum, float value) { return sum + value * weight; }, total, values);
    }
    store(sums + slice * N + column, total);
  }
  const float divisor = maximum(block_sum(count), least);
  block_barrier();  // all sums are written

  float mean[columns] = {}, squares = 0.0f;
#pragma unroll
  for (int k = 0; k < columns; ++k) {
    const int column = k * thread_count + thread_index();
    if (column >= N) continue;
#pragma unroll
    for (int from = 0; from < SLICES; ++from) mean[k] += sums[from * N + column];
    mean[k] /= divisor;
    squares += mean[k] * mean[k];
  }
  const float norm = maximum(sqrt(block_sum(squares)), 1e-12f);  // the smallest divisor that normalize uses
#pragma unroll
  for (int k = 0; k < columns; ++k) {
    const int column = k * thread_count + thread_index();
    if (column < N) out[int64_t(task_index()) * N + column] = mean[k] / norm;
  }
}
