// Single calls of a loaded graph, and what another worker's calls gave against them. Internal to runtime/ (includes torch).
#pragma once

#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"
#include "graphdir/inputs/meta.h"
#include "protocol/messages.h"
#include "runtime/session/loaded_graph.h"
#include "runtime/session/outputs.h"
#include "wire/bundle.h"

namespace passnet::runtime {

/// Returns VALUE of every node's result, by node name; of the nodes named in `measured` with STATISTICS. Kernels are not
/// launched. Errors: BadInput: no inputs are set.
Result<Json> trace(LoadedGraph& graph, const std::vector<std::string>& measured);

/// Returns VALUE of every node's result by node name, from the metas alone: types without data. {"unknown": "why"}
/// where a size depends on data that is not recorded. Inputs that were set are forgotten.
/// Errors: BadInput with position, an argument without a record.
Result<Json> infer(LoadedGraph& graph, const graphdir::Metas& metas);

/// The tensors of a call that the peer gets: those that it compares whole, rows of large ones, or none.
enum class Share { All, Some, None };

/// One call. checked: fused nodes run on poisoned and fenced memory. again: false where what the last run on these
/// inputs gave will do, with Share::None. Throws KernelFault.
/// room: of a peer with the same device, which gets all tensors there if they fit. Null: there is none.
Result<CallOutputs> run_once(LoadedGraph& graph, bool checked, Share share, bool again, const wire::DeviceRoom* room);

/// Room for what another worker's run on the same device gives, kept as long as the graph, without what was left in it
/// before. Errors: BadInput: there was no run.
Result<wire::DeviceRoom> lend_room(LoadedGraph& graph);

/// Returns the results of another worker's run, shared whole or in the graph's room. Errors: as peer_tensors().
Result<CallResult> result_of(const LoadedGraph& graph, const SharedTensors& found, const Json& scalars);

/// Compares it with the last run here: one check per output in order, as many as the longer side has.
protocol::CallChecks compare(const LoadedGraph& graph, const CallResult& found,
                             const std::vector<record::Layout>& found_layouts);

}  // namespace passnet::runtime
