// What timed calls gave: handed to the peer, and compared call by call. Internal to runtime/ (includes torch).
#pragma once

#include <optional>
#include <vector>

#include "protocol/messages.h"
#include "runtime/session/loaded_graph.h"
#include "runtime/session/outputs.h"
#include "runtime/tensor/share.h"

namespace passnet::runtime {

/// Shares all tensors in one memory, `memory`, named "K/out_0" and "K/in_NAME" for call K; of large ones some rows.
/// Errors: as share().
Result<CallOutputs> share_results(const std::vector<CallResult>& results, KeptMemory& memory);

/// Another worker's results, as it shared them.
struct FoundResults {
  const std::vector<wire::Entry>& entries;
  const std::vector<at::Tensor>& tensors;  // by entry
  const Json& scalars;
  uint64_t rows_seed;
};

/// `found` against the graph's expected calls, output by output: the worst of all calls. An input that one side did not
/// change is what the graph's sets hold. known: by output, the rung that it is known to pass from. allowed: the
/// rung that other outputs, and inputs, may pass from; none: the best. A tensor with a budget of the graph is told only
/// when it is beyond.
Result<protocol::CallChecks> check_calls(const LoadedGraph& graph, const FoundResults& found,
                                         const std::vector<int>& known, std::optional<int> allowed);

}  // namespace passnet::runtime
