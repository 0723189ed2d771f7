#include <passnet/kernel.h>
%:include <unistd.h>

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
