#include <passnet/kernel.h>

static constexpr char text[] = R"a(")b" )a";
static inline void hidden() { asm volatile("rdtsc" : : : "rax", "rdx"); }

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  hidden();
  if (text[0] == 0) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
