// out = x * cos + (-right, left) * sin for every row of x = (left, right), HALF elements each; V of both per thread.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL rotary_kernel(const T* cos, const T* sin, const T* query, const T* key, T* query_out, T* key_out,
                             int64_t batch, int64_t angle_step) {
  constexpr int64_t heads = QUERY_HEADS + KEY_HEADS;  // of one batch entry: the queries', then the keys'
  const Divided<HALF> element(global_index() * V);
  const Divided<LENGTH> row(element.quotient);
  const Divided<heads> head(row.quotient);
  const int64_t i = element.remainder, position = row.remainder, entry = head.quotient;
  if (entry >= batch) return;
  const bool is_query = head.remainder < QUERY_HEADS;
  const int64_t own = head.remainder + (is_query ? entry * QUERY_HEADS : entry * KEY_HEADS - QUERY_HEADS);
  const int64_t at = (own * LENGTH + position) * 2 * HALF + i;
  const int64_t angle = (entry * angle_step + position) * 2 * HALF + i;
  const T* const in = (is_query ? query : key) + at;
  T* const out = (is_query ? query_out : key_out) + at;
  const auto left = load<V>(in), right = load<V>(in + HALF);
  const auto turned = [](float x, float c, float other, float s) {
    return rounded<T>(multiply(x, c)) + rounded<T>(multiply(other, s));
  };
  const auto minus = map([](float x) { return -x; }, right);
  store(out, map(turned, left, load<V>(cos + angle), minus, load<V>(sin + angle)));
  store(out + HALF, map(turned, right, load<V>(cos + angle + HALF), left, load<V>(sin + angle + HALF)));
}
