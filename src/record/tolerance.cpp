#include "record/tolerance.h"

#include <fmt/format.h>

#include <array>
#include <cmath>

#include "base/check.h"

namespace passnet::record {

namespace {

/// atol = 10^(t * atol_slope / 5), rtol = 10^(t * rtol_slope / 5): the slopes hit PyTorch's defaults at t =
/// -5.
struct Ladder {
  std::string_view dtype;
  double atol_slope, rtol_slope;
};
constexpr std::array kLadders = {
    Ladder{"float16", 5, 3},   Ladder{"bfloat16", 5, 1.796},  Ladder{"float32", 5, 5.886}, Ladder{"float64", 7, 7},
    Ladder{"complex32", 5, 3}, Ladder{"complex64", 5, 5.886}, Ladder{"complex128", 7, 7},
};

}  // namespace

Tolerance tolerance(std::string_view dtype, int t) {
  PASSNET_CHECK(t >= -10 && t <= 5, fmt::format("tolerance rung {} is outside -10 … 5", t));
  for (const Ladder& ladder : kLadders) {
    if (ladder.dtype != dtype) continue;
    return {std::pow(10.0, t * ladder.atol_slope / 5), std::pow(10.0, t * ladder.rtol_slope / 5)};
  }
  return {};
}

std::string tolerance_key(Tolerance tolerance) {
  return fmt::format("atol_{:.2E}_rtol_{:.2E}", tolerance.atol, tolerance.rtol);
}

}  // namespace passnet::record
