// out = relu(x * sigmoid(gate) + shortcut), with one gate per plane of N elements; V elements per thread.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL squeeze_excite_kernel(const T* x, const T* gate, const T* shortcut, T* out, int64_t planes) {
  const int64_t i = global_index() * V;
  if (i >= planes * N) return;
  const auto values = load<V>(x + i), added = load<V>(shortcut + i);
  const float factor = rounded<T>(sigmoid(to_float(gate[Divided<N>(i).quotient])));
  const auto scaled = [&](float v, float s) { return relu(rounded<T>(multiply(v, factor)) + s); };
  store(out + i, map(scaled, values, added));
}
