// out = normalize(sum of tokens * mask / max(sum of mask, least)), one sentence of LENGTH tokens per block.
#include <passnet/kernel.h>

using namespace passnet;

// The block is SLICES groups of threads. A group adds up every SLICES-th token, V columns per thread; then the groups'
// sums are added. So many reads are under way at once, and each thread has `ahead` of them.
PASSNET_KERNEL mean_pooling_kernel(const int64_t* mask, const T* tokens, float* out, float least) {
  constexpr int slices = int(SLICES), group = thread_count / slices, parts = ceil_div(int(N), group * int(V));
  constexpr int steps = ceil_div(int(LENGTH), slices), ahead = 32 / int(V);
  constexpr int columns = ceil_div(int(N), int(thread_count));
  __shared__ alignas(16) float sums[slices * N];
  __shared__ float counts[slices];
  const int slice = thread_index() / group;
  const int64_t first = int64_t(task_index()) * LENGTH + slice;  // the token that this thread begins with

#pragma unroll
  for (int part = 0; part < parts; ++part) {
    const int column = (part * group + thread_index() % group) * int(V);
    if (column >= N) continue;
    floats<V> total{};
    float count = 0.0f;
#pragma unroll 1
    for (int step = 0; step < steps; step += ahead) {
      floats<V> values[ahead];
      float weight[ahead];
#pragma unroll
      for (int k = 0; k < ahead; ++k) {
        const int past = (step + k) * slices;  // tokens past the first
        const bool inside = past + slices <= LENGTH || past + slice < LENGTH;
        values[k] = inside ? load<V>(tokens + first * N + column + past * N) : floats<V>{};
        weight[k] = inside ? load<1>(mask + first + past)[0] : 0.0f;
      }
#pragma unroll
      for (int k = 0; k < ahead; ++k) {
        total = map([&](float sum, float value) { return sum + value * weight[k]; }, total, values[k]);
        count += weight[k];
      }
    }
    store(sums + slice * N + column, total);
    if (column == 0) counts[slice] = count;
  }
  block_barrier();

  float count = 0.0f, mean[columns] = {}, squares = 0.0f;
#pragma unroll
  for (int from = 0; from < slices; ++from) count += counts[from];
  const float divisor = maximum(count, least);
#pragma unroll
  for (int k = 0; k < columns; ++k) {
    const int column = k * thread_count + thread_index();
    if (column >= N) continue;
#pragma unroll
    for (int from = 0; from < slices; ++from) mean[k] += sums[from * N + column];
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
