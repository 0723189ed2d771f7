#include <passnet/kernel.h>

extern "C" {
static void one() {}
__attribute__((used)) static void (*choose())() { return one; }
void chosen() __attribute__((ifunc("choose"), visibility("hidden")));
}

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  chosen();
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
