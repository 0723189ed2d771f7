#include <passnet/kernel.h>

PASSNET_KERNEL k(const T* x, T* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) out[i] = passnet::from_float<T>(passnet::silu(passnet::to_float(x[i])));
}
