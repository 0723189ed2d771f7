// MT19937, as std::mt19937, with its words in blocks: a whole state is advanced by loops that compilers
// vectorize.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>

namespace passnet::graphdir {

class MersenneTwister {
 public:
  explicit MersenneTwister(uint32_t seed) {
    state_[0] = seed;
    for (uint32_t i = 1; i < kSize; ++i) state_[i] = 1812433253u * (state_[i - 1] ^ state_[i - 1] >> 30) + i;
  }

  uint32_t next() {
    if (at_ == kSize) advance();
    return words_[at_++];
  }
  /// The next `count` words.
  void fill(uint32_t* out, size_t count) {
    for (size_t done = 0; done < count;) {
      if (at_ == kSize) advance();
      const size_t part = count - done < kSize - at_ ? count - done : kSize - at_;
      for (size_t i = 0; i < part; ++i) out[done + i] = words_[at_ + i];
      done += part;
      at_ += part;
    }
  }

 private:
  static constexpr size_t kSize = 624, kShift = 397;

  static uint32_t twist(uint32_t high, uint32_t low, uint32_t far) {
    const uint32_t mixed = (high & 0x80000000u) | (low & 0x7fffffffu);
    return far ^ mixed >> 1 ^ ((0u - (low & 1u)) & 0x9908b0dfu);
  }
  void advance() {
    for (size_t i = 0; i < kSize - kShift; ++i) state_[i] = twist(state_[i], state_[i + 1], state_[i + kShift]);
    for (size_t i = kSize - kShift; i < kSize - 1; ++i)
      state_[i] = twist(state_[i], state_[i + 1], state_[i + kShift - kSize]);
    state_[kSize - 1] = twist(state_[kSize - 1], state_[0], state_[kShift - 1]);
    for (size_t i = 0; i < kSize; ++i) {
      uint32_t word = state_[i];
      word ^= word >> 11;
      word ^= word << 7 & 0x9d2c5680u;
      word ^= word << 15 & 0xefc60000u;
      words_[i] = word ^ word >> 18;
    }
    at_ = 0;
  }

  std::array<uint32_t, kSize> state_{}, words_{};
  size_t at_ = kSize;
};

}  // namespace passnet::graphdir
