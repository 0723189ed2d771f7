// out = softmax(scores + table[index] + mask), a row of N per THREADS threads. The bias is looked up where it is
// needed: it comes from the cache, and a launch to gather it first takes longer.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL bias_softmax_kernel(const T* scores, const int64_t* index, const T* table, const T* mask, T* out,
                                   int64_t rows, int64_t entries) {
  using Row = passnet::Row<T, N, THREADS>;
  const int64_t row = Row::index();
  if (row >= rows) return;
  const Row score = Row::load(scores + row * N);  // first: it needs no index arithmetic
  const Divided<QUERIES> query(row);
  const Divided<HEADS> head(query.quotient);
  const Divided<WINDOWS> window(head.quotient);
  const Row hide = Row::load(mask + (window.remainder * QUERIES + query.remainder) * N);
  const Row bias = Row::of([&](int k) {
    const int64_t entry = index[query.remainder * N + k];  // below zero it counts from the end, as in PyTorch
    return to_float(table[(entry < 0 ? entry + entries : entry) * HEADS + head.remainder]);
  });
  const Row masked =
      map([](float s, float b, float h) { return rounded<T>(rounded<T>(s + b) + h); }, score, bias, hide);
  const float top = masked.max();
  const Row powers = map([&](float v) { return exp(v - top); }, masked);
  const float total = powers.sum();
  map([&](float power) { return power / total; }, powers).store(out + row * N);
}
