// out = x * cos + (-right, left) * sin for every row of x = (left, right), HALF elements each.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
[[gnu::always_inline]] inline void rotate(const T* x, const T* cos, const T* sin, T* out) {
  for_blocks(0, HALF, [&](int64_t i, int lanes) {
    const vec left = load(x + i, lanes), right = load(x + HALF + i, lanes);
    const vec left_direct = rounded<T>(left * load(cos + i, lanes));
    const vec left_crossed = rounded<T>(-right * load(sin + i, lanes));
    store(out + i, left_direct + left_crossed, lanes);
    const vec right_direct = rounded<T>(right * load(cos + HALF + i, lanes));
    const vec right_crossed = rounded<T>(left * load(sin + HALF + i, lanes));
    store(out + HALF + i, right_direct + right_crossed, lanes);
  });
}

PASSNET_KERNEL rotary_kernel(const T* cos, const T* sin, const T* query, const T* key, T* query_out, T* key_out,
                             int64_t batch, int64_t query_heads, int64_t key_heads, int64_t length,
                             int64_t angle_step) {
  // Heads of all queries, then heads of all keys, are shared out; each is `length` rows.
  const int64_t queries = batch * query_heads;
  const auto [first, last] = chunk(queries + batch * key_heads, 1);
  for (int64_t head = first; head < last; ++head) {
    const bool is_query = head < queries;
    const int64_t own = is_query ? head : head - queries;
    const int64_t entry = own / (is_query ? query_heads : key_heads);
    for (int64_t row = 0; row < length; ++row) {
      const int64_t at = (own * length + row) * 2 * HALF, angle = (entry * angle_step + row) * 2 * HALF;
      rotate((is_query ? query : key) + at, cos + angle, sin + angle, (is_query ? query_out : key_out) + at);
    }
  }
}
