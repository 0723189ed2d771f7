// out = normalize(sum of tokens * mask / max(sum of mask, least)), one sentence of `length` tokens per task.
#include <passnet/kernel.h>

using namespace passnet;

// Columns summed at a time: they stay in registers while all tokens pass.
constexpr int64_t kColumns = N % 128 == 0 ? 128 : N % 64 == 0 ? 64 : 16;

PASSNET_KERNEL mean_pooling_kernel(const int64_t* mask, const T* tokens, float* out, int64_t length, float least) {
  const int64_t sentence = task_index();
  const int64_t* const weights = mask + sentence * length;
  const T* const first = tokens + sentence * length * N;
  float* const embedding = out + sentence * N;

  int64_t count = 0;
  for (int64_t token = 0; token < length; ++token) count += weights[token];
  const float divisor = max(static_cast<float>(count), least);

  for (int64_t column = 0; column < N; column += kColumns) {
    vec total[kColumns / kLanes] = {};
    for (int64_t token = 0; token < length; ++token) {
      const float weight = static_cast<float>(weights[token]);
      for (int64_t k = 0; k < kColumns / kLanes; ++k) {
        total[k] = fma(load(first + token * N + column + k * kLanes), weight, total[k]);
      }
    }
    for (int64_t k = 0; k < kColumns / kLanes; ++k) store(embedding + column + k * kLanes, total[k] / divisor);
  }

  const float squares = sum_of(N, [&](int64_t i, int lanes) {
    const vec value = load(embedding + i, lanes);
    return value * value;
  });
  const float norm = max(sqrt(squares), 1e-12f);  // the smallest divisor that normalize uses
  for_blocks(0, N, [&](int64_t i, int lanes) { store(embedding + i, load(embedding + i, lanes) / norm, lanes); });
}
