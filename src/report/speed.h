// What may be said of a graph's speed. Nothing of what is not correct, or was not measured.
#pragma once

#include "report/row.h"

namespace passnet::report {

/// None: not correct, not timed, disturbed, or left as it was by every pass. Same: the interval of the ratio holds 1.
enum class Speed { None, Faster, Same, Slower };
Speed speed_of(const Row& row);

/// "faster", "no difference", "slower"; "" for None.
const char* to_string(Speed speed);
/// The same as a class of the style sheet: "faster", "same", "slower"; "" for None.
const char* css_of(Speed speed);

/// Where a graph stands in a list: what failed, then inexact ones, then those without a speedup, then by speedup,
/// the fastest first. Smaller is earlier.
struct Place {
  int class_ = 0;
  double slowness = 0;
  auto operator<=>(const Place&) const = default;
};
Place place_of(const Row& row);

}  // namespace passnet::report
