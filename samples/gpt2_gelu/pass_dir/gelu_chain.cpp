// out = half x (1 + tanh(slope (x + cubic x^3))).
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would. It matters:
// for x near -3, 1 + tanh is a small difference of large numbers.
PASSNET_KERNEL gelu_chain_kernel(const T* x, T* out, int64_t n, float half, float cubic, float slope) {
  const auto [first, last] = chunk(n);
  for_blocks(first, last, [&](int64_t i, int lanes) {
    const vec value = load(x + i, lanes);
    const vec cube = rounded<T>(rounded<T>(value * value) * value);
    const vec inner = rounded<T>(value + rounded<T>(cube * cubic));
    const vec bent = rounded<T>(tanh(rounded<T>(inner * slope)));
    store(out + i, rounded<T>(value * half) * rounded<T>(bent + 1.0f), lanes);
  });
}
