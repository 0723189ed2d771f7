// The draws of NumPy's legacy generator (numpy.random.seed, randn, random_sample, randint), bit for bit.
// Source: numpy/random/src/legacy/legacy-distributions.c and distributions.c; MT19937 seeded by init_genrand.
#pragma once

#include <cstdint>
#include <random>

namespace passnet::fx {

class NumpyRandom {
 public:
  explicit NumpyRandom(uint32_t seed) : engine_(seed) {}

  /// random_sample: [0, 1) with 53 bits.
  double uniform() {
    const auto high = static_cast<double>(next() >> 5);
    const auto low = static_cast<double>(next() >> 6);
    return (high * 67108864.0 + low) / 9007199254740992.0;
  }
  /// randn: the polar method; every second value is kept from the draw before.
  double gauss();
  /// randint(low, high + 1) of int64 with the masked rejection method. low <= high.
  int64_t integer(int64_t low, int64_t high);

 private:
  uint32_t next() { return static_cast<uint32_t>(engine_()); }

  std::mt19937 engine_;
  bool has_kept_ = false;
  double kept_ = 0;
};

}  // namespace passnet::fx
