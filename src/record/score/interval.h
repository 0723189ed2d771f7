// How sure a speedup is: its 95 % interval, from blocks of trials that were timed beside each other.
#pragma once

#include "record/record.h"

namespace passnet::record {

/// Bounds of a ratio (before / after).
struct Interval {
  double low = 0, high = 0;  // both 0: not known
  bool known() const { return low > 0; }
  bool contains(double ratio) const { return low <= ratio && ratio <= high; }
  bool operator==(const Interval&) const = default;
};

/// Two processes that run the same graph differ by up to this much for as long as they live (where their memory happens
/// to lie): no number of trials shows a smaller difference. docs/performance.md has the measurement.
inline constexpr double kProcessSpread = 0.02;

/// The 95 % interval of median(reference) / median(candidate). Each pair of blocks that were timed beside each other
/// gives one ratio of medians, which a slow drift of the machine does not change. The interval is the distribution-free
/// one of their median (order statistics of a binomial), widened to hold the ratio of all trials, and by kProcessSpread
/// in quadrature. Timings without `blocks` are taken in groups of 5. Not known when either side has no believable
/// times.
Interval ratio_interval(const Timing& reference, const Timing& candidate);

/// The interval of the record's speedup; not known when it has none (record::judge), or its times were disturbed.
Interval speedup_interval(const RunRecord& record);

}  // namespace passnet::record
