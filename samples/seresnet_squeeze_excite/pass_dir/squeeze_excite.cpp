// out = relu(x * sigmoid(gate) + shortcut), with one gate per plane of N elements.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL squeeze_excite_kernel(const T* x, const T* gate, const T* shortcut, T* out, int64_t planes) {
  const auto [first, last] = chunk(planes, 1);
  for (int64_t plane = first; plane < last; ++plane) {
    const float factor = to_float(from_float<T>(sigmoid(to_float(gate[plane]))));
    for_blocks(plane * N, (plane + 1) * N, [&](int64_t i, int lanes) {
      store(out + i, relu(rounded<T>(load(x + i, lanes) * factor) + load(shortcut + i, lanes)), lanes);
    });
  }
}
