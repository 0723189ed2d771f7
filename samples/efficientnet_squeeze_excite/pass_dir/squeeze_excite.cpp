// out = x * sigmoid(gate), with one gate per plane of N elements.
#include <passnet/kernel.h>

PASSNET_KERNEL squeeze_excite_kernel(const T* x, const T* gate, T* out, int64_t planes) {
  using namespace passnet;
  const auto [first, last] = chunk(planes, 1);
  for (int64_t plane = first; plane < last; ++plane) {
    // Through T and back: PyTorch stores the sigmoid before it multiplies.
    const float factor = to_float(from_float<T>(sigmoid(to_float(gate[plane]))));
    for_blocks(plane * N, (plane + 1) * N, [&](int64_t i, int lanes) { store(out + i, load(x + i, lanes) * factor, lanes); });
  }
}
