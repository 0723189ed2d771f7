// out = half x (1 + tanh(slope (x + cubic x^3))), V elements per thread.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would. It matters:
// for x near -3, 1 + tanh is a small difference of large numbers.
PASSNET_KERNEL gelu_chain_kernel(const T* x, T* out, int64_t n, float half, float cubic, float slope) {
  const int64_t i = global_index() * V;
  if (i >= n) return;
  const auto gelu = [&](float value) {
    const float cube = rounded<T>(rounded<T>(value * value) * value);
    const float inner = rounded<T>(value + rounded<T>(multiply(cube, cubic)));
    const float bent = rounded<T>(tanh(rounded<T>(inner * slope)));
    return rounded<T>(value * half) * rounded<T>(bent + 1.0f);
  };
  store(out + i, map(gelu, load<V>(x + i)));
}
