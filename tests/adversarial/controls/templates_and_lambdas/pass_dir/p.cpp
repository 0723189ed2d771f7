#include <passnet/kernel.h>

namespace mine {
template <class U>
constexpr U larger(U a, U b) {
  return a > b ? a : b;
}
}  // namespace mine

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  const auto positive = [](auto a) { return mine::larger(a, decltype(a){0}); };
  for (int64_t i = first; i < last; ++i) out[i] = positive(x[i]);
}
