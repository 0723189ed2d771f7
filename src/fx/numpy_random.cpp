#include "fx/numpy_random.h"

#include <bit>
#include <cmath>

namespace passnet::fx {

double NumpyRandom::gauss() {
  if (has_kept_) {
    has_kept_ = false;
    return kept_;
  }
  double x = 0, y = 0, radius = 0;
  do {
    x = 2.0 * uniform() - 1.0;
    y = 2.0 * uniform() - 1.0;
    radius = x * x + y * y;
  } while (radius >= 1.0 || radius == 0.0);
  const double scale = std::sqrt(-2.0 * std::log(radius) / radius);
  kept_ = scale * x;
  has_kept_ = true;
  return scale * y;
}

int64_t NumpyRandom::integer(int64_t low, int64_t high) {
  const uint64_t base = static_cast<uint64_t>(low);
  const uint64_t range = static_cast<uint64_t>(high) - base;
  if (range == 0) return low;
  const uint64_t mask = ~uint64_t{0} >> std::countl_zero(range);
  const bool wide = range > 0xffffffffu;
  uint64_t value = 0;
  do {
    value = next();
    if (wide) value = value << 32 | next();
    value &= mask;
  } while (value > range);
  return static_cast<int64_t>(base + value);
}

}  // namespace passnet::fx
