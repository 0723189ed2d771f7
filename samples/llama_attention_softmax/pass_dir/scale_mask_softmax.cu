// out = softmax(scores * scale + mask), a row of N per THREADS threads; all heads of a batch entry share its mask.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL scale_mask_softmax_kernel(const T* scores, const T* mask, T* out, int64_t rows, int64_t mask_step,
                                         float scale) {
  using Row = passnet::Row<T, N, THREADS>;
  const int64_t row = Row::index();
  if (row >= rows) return;
  const Row score = Row::load(scores + row * N);  // first: it needs no index arithmetic
  const T* const add = mask + Divided<HEADS * QUERIES>(row).quotient * mask_step + Divided<QUERIES>(row).remainder * N;
  const Row masked = map([&](float s, float hide) { return rounded<T>(rounded<T>(multiply(s, scale)) + hide); }, score,
                         Row::load(add));
  const float top = masked.max();
  const Row powers = map([&](float v) { return exp(v - top); }, masked);
  const float total = powers.sum();
  map([&](float power) { return power / total; }, powers).store(out + row * N);
}
