#include <passnet/kernel.h>

static constexpr char words[] = R"(asm #include <x>)", quote = '"';
static constexpr int million = 1'000'000;

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  // asm volatile("nop"); #include <unistd.h>
  /* __asm__ syscall */
  if (words[0] != 'a' || quote != '"' || million < 0) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
