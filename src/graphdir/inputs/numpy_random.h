// The draws of NumPy's legacy generator (numpy.random.seed, randn, random_sample, randint), bit for bit.
// Source: numpy/random/src/legacy/legacy-distributions.c and distributions.c; MT19937 seeded by init_genrand.
#pragma once

#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include "graphdir/inputs/mersenne_twister.h"

namespace passnet::graphdir {

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

  /// Gets values [first, first + values.size()) of a long draw. Called by several threads at once, in any
  /// order.
  using GaussSink = std::function<void(int64_t first, std::span<const double> values)>;
  /// `count` draws of gauss(), computed by `threads` threads: the words come one after the other, what is
  /// made of them does not depend on each other.
  void gauss(int64_t count, int threads, const GaussSink& sink);

 private:
  class Pipeline;
  uint32_t next() {
    if (unread_at_ < unread_.size()) return unread_[unread_at_++];
    return engine_.next();
  }
  void fill(uint32_t* words, size_t count);

  MersenneTwister engine_;
  std::vector<uint32_t> unread_;  // words that were drawn ahead; they come before the engine's
  size_t unread_at_ = 0;
  bool has_kept_ = false;
  double kept_ = 0;
};

}  // namespace passnet::graphdir
