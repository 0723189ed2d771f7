#include "run/apply/library_types.h"

#include <fmt/format.h>

#include <utility>
#include <vector>

#include "base/text/strings.h"
#include "fx/print.h"
#include "ir/copy.h"
#include "ir/ops/table.h"
#include "ir/tensor_type.h"
#include "pass/plan/tensor.h"
#include "run/worker/requests.h"

namespace passnet::run {

using ir::Arg;
using ir::NodeId;

namespace {

/// The graph of one call. Inputs of a graph are contiguous, so a tensor with other strides is viewed in as many elements
/// as it spans.
struct Probe {
  ir::Graph graph;
  std::vector<ir::TensorType> inputs;
  NodeId call = ir::kNoNode;
};

Arg sizes_arg(ir::Graph& graph, const std::vector<int64_t>& sizes) {
  std::vector<Arg> items;
  for (const int64_t size : sizes) items.push_back(Arg::of_int(size));
  return graph.make_container(ir::ArgKind::Tuple, items);
}

Probe probe_of(const pass::LibraryCall& call) {
  Probe probe;
  ir::Graph& graph = probe.graph;
  for (size_t i = 0; i < call.inputs.size(); ++i) {
    const ir::TensorType& type = call.inputs[i].type;
    probe.inputs.push_back(type.is_contiguous() ? type : ir::contiguous(type.dtype, {pass::extent(type)}));
    const std::string_view name = graph.intern(fmt::format("t{}", i));
    graph.add_placeholder(name, name);
  }
  ir::GraphCopy copying(call.graph, graph);
  for (NodeId i = 0; i < call.inputs.size(); ++i) {
    const ir::TensorType& type = call.inputs[i].type;
    copying.stand_for(i, Arg::of_node(i));
    if (type.is_contiguous()) continue;
    const Arg args[] = {Arg::of_node(i), sizes_arg(graph, type.shape), sizes_arg(graph, type.strides)};
    copying.stand_for(i, copying.add(ir::NodeKind::CallFunction, "torch.as_strided", fmt::format("v{}", i), args));
  }
  probe.call = copying.copy(call.node(), "called");
  const Arg result = Arg::of_node(probe.call);
  graph.add_output(graph.make_container(ir::ArgKind::Tuple, std::span(&result, 1)));
  return probe;
}

std::string key_of(const Probe& probe) {
  std::string key = fx::print_model(probe.graph);
  for (const ir::TensorType& type : probe.inputs) key += ir::to_string(type) + "\n";
  return key;
}

graphdir::Metas metas_of(const Probe& probe) {
  graphdir::Metas metas;
  for (size_t i = 0; i < probe.inputs.size(); ++i) {
    graphdir::TensorMeta meta;
    meta.name = fmt::format("t{}", i);
    meta.class_name = "Program_weight_tensor_meta_" + meta.name;
    meta.shape = probe.inputs[i].shape;
    meta.dtype = probe.inputs[i].dtype;
    metas.weights.push_back(std::move(meta));
  }
  return metas;
}

/// Zeros, which no operator takes for an index that is out of range.
Result<Bundle> zeros_of(const Probe& probe) {
  Bundle bundle;
  for (size_t i = 0; i < probe.inputs.size(); ++i)
    bundle.entries.push_back({fmt::format("t{}", i), probe.inputs[i].dtype, probe.inputs[i].shape});
  bundle.size_bytes = wire::lay_out(bundle.entries);
  PASSNET_TRY(bundle.fd, wire::create_memory("passnet-library-call", bundle.size_bytes));
  return bundle;
}

/// Whether running it changes how later operators run: cuDNN's choice of an algorithm is kept for the whole process, and the
/// reference has to choose as PyTorch does.
bool is_tuned(const Probe& probe) { return ir::canonical_name(probe.graph.node(probe.call)) == "cudnn_convolution"; }

/// What the worker refuses is what the plan called. Errors of workers and machines stay what they are.
Error refused(Error error, const pass::LibraryCall& call) {
  const bool is_about_call = error.kind == Error::Kind::BadInput || error.kind == Error::Kind::Unsupported;
  if (!is_about_call || error.worker_lost) return error;
  return bad_pass(fmt::format("{}: {}", call.name, error.message));
}

}  // namespace

Result<ir::Value> CallTypes::of(const pass::LibraryCall& call) {
  const Probe probe = probe_of(call);
  std::string key = key_of(probe);
  if (const auto known = known_.find(key); known != known_.end()) return known->second;
  PASSNET_TRY_VOID(planning_.look());
  const auto ask = [&]() -> Result<ir::Value> {
    PASSNET_TRY_VOID(load_graph(reference_, kCallId, probe.graph, {}, {}, time_left()));
    // Without data: a size that depends on it is not what zeros give.
    PASSNET_TRY(const Values inferred, infer_types(reference_, kCallId, probe.graph, metas_of(probe), time_left()));
    if (inferred.at(probe.call).unknown() || is_tuned(probe)) return inferred[probe.call];
    PASSNET_TRY(const Bundle zeros, zeros_of(probe));
    PASSNET_TRY_VOID(set_inputs(reference_, kCallId, zeros, time_left()));
    PASSNET_TRY(const Values traced, trace_graph(reference_, kCallId, probe.graph, time_left()));
    return traced.at(probe.call);
  };
  Result<ir::Value> asked = ask();
  forget_graph(reference_, kCallId, timeout_);
  if (!asked) return refused(std::move(asked).error(), call);
  return known_.emplace(std::move(key), *std::move(asked)).first->second;
}

}  // namespace passnet::run
