// out = up * silu(gate), where a row of x is gate and up, `width` elements each.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL swiglu_kernel(const T* x, T* out, int64_t rows, int64_t width) {
  const auto [first, last] = chunk(rows, 1);
  for (int64_t row = first; row < last; ++row) {
    const T* const gate = x + 2 * row * width;
    const T* const up = gate + width;
    for_blocks(0, width, [&](int64_t i, int lanes) {
      store(out + row * width + i, load(up + i, lanes) * rounded<T>(silu(load(gate + i, lanes))), lanes);
    });
  }
}
