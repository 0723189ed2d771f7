#include <passnet/kernel.h>

template <int n>
struct Deep {
  static constexpr long value = Deep<n - 1>::value + Deep<n - 2>::value + n;
};
template <int n>
struct Wide {
  static constexpr long value = Wide<n + 1>::value;
};

PASSNET_KERNEL k(const float* x, float* out, int64_t n) {
  const auto [first, last] = passnet::chunk(n);
  if (Wide<0>::value == 1) return;
  for (int64_t i = first; i < last; ++i) out[i] = x[i] > 0 ? x[i] : 0;
}
