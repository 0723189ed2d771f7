// The names that patterns call: a pattern whose operator does not exist can never match, which nothing else would say.
#pragma once

#include <chrono>
#include <vector>

#include "pass/source.h"
#include "run/worker/worker.h"

namespace passnet::run {

/// Every function and method that a pattern calls must exist: in the table of operators (src/ir), or else in the
/// PyTorch of `worker` (a reference), which is started when it is first needed.
/// Errors: BadPass at the line of the pattern, with the nearest name; what starting the worker or asking it gave.
Result<void> check_pattern_names(const std::vector<pass::Pass>& passes, Worker& worker,
                                 std::chrono::milliseconds timeout);

}  // namespace passnet::run
