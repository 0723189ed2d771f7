// The tolerance ladder: t -> (atol, rtol) per dtype. Source: docs/scoring.md, "Tolerances".
#pragma once

#include <string>
#include <string_view>

namespace passnet::record {

struct Tolerance {
  double atol = 0, rtol = 0;
};

/// dtype: "float16", "bfloat16", "float32", "float64"; any other is exact: {0, 0}. complex64 as float32, complex128 as
/// float64. complex32 as float16. REQUIRES: t in [-10, 5].
Tolerance tolerance(std::string_view dtype, int t);
/// "atol_1.00E-05_rtol_1.30E-06": upstream's key.
std::string tolerance_key(Tolerance tolerance);

}  // namespace passnet::record
