// How well a speedup is known: its 95 % interval from the trial times of both sides.
#pragma once

#include "bench/record.h"

namespace passnet::bench {

/// Of a ratio; both 0 when there is none.
struct Interval {
  double low = 0, high = 0;
  bool known() const { return low > 0; }
  bool operator==(const Interval&) const = default;
};

/// The 95 % interval of median reference / median candidate: percentiles of a bootstrap that draws runs of neighbouring
/// trials (neighbours resemble each other), the same of both sides, as they were taken in turn and a disturbance of the
/// machine fell on both. Always contains the ratio itself. The same record gives the same interval on every machine.
/// Unknown when a side has no believable times.
Interval speedup_interval(const RunRecord& record);

}  // namespace passnet::bench
