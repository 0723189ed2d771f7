// What every report says beside a score (record/score/summary.h), in words.
#pragma once

#include <string>

#include "record/score/summary.h"

namespace passnet::report {

/// "coverage 5 of 6, 1.82x where applied, fast_1 50 %, abstained 1 (1 declined, 0 unmatched)", and where plans called
/// PyTorch ", 2 right with library calls (1 without a kernel of its own)"; without reach
/// "fast_1 50 %; a log says nothing of coverage".
std::string reach_text(const record::Summary& summary);

/// "1.100 if no failure is forgiven, 1.300 if the unmatched count 1": scores that differ from the aggregated one; "" for
/// none.
std::string other_scores_text(const record::Summary& summary, const record::Score& score);

/// Why the aggregated score is less than the speedup: "below 1.91x, as a graph counts 0.1 at each t at which it is not
/// right: 4 of 6 at t = -6"; "" where it is not less.
std::string below_speedup_text(const record::Score& score);

}  // namespace passnet::report
