// Several samples at a time.
#pragma once

#include <functional>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/sample.h"

namespace passnet::cli {

/// Makes something of each sample, `at_a_time` at a time, and gives it to `take` in the order of the samples, one by one.
/// Begins no sample after an error or an interrupt. Errors: the first one of `make`.
Result<void> in_order(const std::vector<graphdir::Sample>& samples, int at_a_time,
                      const std::function<Result<Json>(const graphdir::Sample&)>& make,
                      const std::function<void(Json)>& take);

}  // namespace passnet::cli
