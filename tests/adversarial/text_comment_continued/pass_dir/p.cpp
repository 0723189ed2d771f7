#include <passnet/kernel.h>

// harmless \
still a comment
/\
* a comment *\
/
static inline void hidden() { asm volatile("rdtsc" : : : "rax", "rdx"); }

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  hidden();
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
