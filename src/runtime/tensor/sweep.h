// What one pass over two outputs finds. Internal to runtime/tensor.
#pragma once

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <string_view>

#include "record/tolerance.h"

namespace passnet::runtime {

inline constexpr int kFirstRung = -10, kLastRung = 5, kNoRung = 6;

/// Of elements that are not equal. An infinity is near to nothing else, and NaN to nothing at all.
inline bool is_within(double difference, double magnitude, const record::Tolerance& at) {
  return std::isfinite(difference) && difference <= at.atol + at.rtol * magnitude;
}

/// Differences of one pass over all elements.
struct Sweep {
  std::array<record::Tolerance, kLastRung - kFirstRung + 1> ladder;
  int rung = kFirstRung;
  bool equal = true;
  double max_abs = 0, sum_abs = 0, max_rel = 0;

  explicit Sweep(std::string_view dtype) {
    for (int t = kFirstRung; t <= kLastRung; ++t)
      ladder[static_cast<size_t>(t - kFirstRung)] = record::tolerance(dtype, t);
  }

  void add(double difference, double magnitude) {
    equal = false;
    while (rung <= kLastRung) {
      const record::Tolerance& at = ladder[static_cast<size_t>(rung - kFirstRung)];
      if (is_within(difference, magnitude, at)) break;
      ++rung;
    }
    sum_abs += difference;
    keep_larger(max_abs, difference);
    if (magnitude > 0) keep_larger(max_rel, difference / magnitude);
  }
  void merge(const Sweep& other) {
    equal = equal && other.equal;
    rung = std::max(rung, other.rung);
    sum_abs += other.sum_abs;
    keep_larger(max_abs, other.max_abs);
    keep_larger(max_rel, other.max_rel);
  }
  /// NaN sticks: it says more than any number.
  static void keep_larger(double& largest, double other) {
    if (!(other <= largest)) largest = std::isnan(largest) ? largest : other;
  }
};

/// What a second pass counts in outputs that differ.
struct Counts {
  int64_t expected_nan = 0, expected_inf = 0, found_nan = 0, found_inf = 0;
  int64_t different = 0;    // in a bit
  bool has_beyond = false;  // whether an element is beyond the tolerance
};

}  // namespace passnet::runtime
