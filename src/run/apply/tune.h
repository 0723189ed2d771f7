// Chooses among the configurations of @triton.autotune by our own clock, on the device and with the graph's own inputs.
#pragma once

#include <chrono>
#include <vector>

#include "base/result.h"
#include "ir/graph.h"
#include "record/record.h"
#include "run/apply/build_kernels.h"
#include "run/worker/requests.h"

namespace passnet::run {

/// Runs all ways to make each launch one after the other, and keeps the fastest. What such a call computes is nothing; it
/// is thrown away. candidate: has no graph loaded as kTunedId when this returns.
/// Returns: what was chosen, one for each launch that could be made in several ways. Errors: of the worker; a launch that
/// the device refuses.
Result<std::vector<record::Tuned>> tune(Worker& candidate, const ir::Graph& graph, const Bundle& inputs,
                                        std::chrono::milliseconds timeout, BuiltLists& built);
inline constexpr const char* kTunedId = "tuned";

}  // namespace passnet::run
