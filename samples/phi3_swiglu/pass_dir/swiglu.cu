// out = up * silu(gate), where a row of x is gate and up, N elements each; V elements per thread.
#include <passnet/kernel.h>

using namespace passnet;

// PyTorch stores every intermediate value as T; so that results agree, values are rounded where it would.
PASSNET_KERNEL swiglu_kernel(const T* x, T* out, int64_t rows) {
  const int64_t i = global_index() * V;
  if (i >= rows * N) return;
  const T* const gate = x + i + Divided<N>(i).quotient * N;  // rows of x have N more elements
  const auto gated = [](float g, float up) { return up * rounded<T>(silu(g)); };
  store(out + i, map(gated, load<V>(gate), load<V>(gate + N)));
}
