// What timed calls gave: handed to the peer, and compared call by call. Internal to runtime/ (includes torch).
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "runtime/session/call_sets.h"
#include "runtime/session/outputs.h"
#include "runtime/session/session.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

/// All tensors in one shared memory, `memory`, named as FreshCallTimes says. Errors: as share().
Result<CallOutputs> share_results(const std::vector<CallResult>& results, KeptMemory& memory);

/// Another worker's results, `found` in `mapping` with `scalars`, against `expected`, output by output: the worst of all
/// calls. An input that one side did not change is what `sets` hold.
/// known, allowed: as Session::compare_calls(). budgets: how far they may be apart, by "output 0", "input x"; what has one
/// is told only when it is beyond.
Result<CallChecks> check_calls(const std::vector<CallResult>& expected, const CallSets& sets,
                               const std::vector<std::string>& input_names, const std::vector<wire::Entry>& found,
                               const wire::Mapping& mapping, const Json& scalars, const std::vector<int>& known,
                               std::optional<int> allowed, const std::map<std::string, record::Errors>& budgets);

}  // namespace passnet::runtime
