#include "runtime/session/calls.h"

#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>

#include "base/random.h"
#include "runtime/infer/infer.h"
#include "runtime/infer/inputs.h"
#include "runtime/session/peer_tensors.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/rows.h"
#include "runtime/tensor/share.h"
#include "runtime/tensor/statistics.h"
#include "runtime/tensor/value.h"

namespace passnet::runtime {

Result<Json> trace(LoadedGraph& graph, const std::vector<std::string>& measured) {
  PASSNET_TRY_VOID(graph.require_inputs());
  PASSNET_TRY_VOID(graph.learn_mutations());
  Json values = Json::object();
  std::vector<std::string_view> wanted(measured.begin(), measured.end());
  std::sort(wanted.begin(), wanted.end());
  const Plan::NodeVisitor visit = [&](const ir::Node& node, const c10::IValue& value) {
    Json& told = values[std::string(node.name)] = ir::to_json(value_of(value));
    // A value inside a vmap has no memory of its own.
    const bool measurable = told.contains("shape") && value.toTensor().has_storage();
    if (measurable && std::binary_search(wanted.begin(), wanted.end(), node.name))
      told["statistics"] = statistics_json(value.toTensor());
  };
  PASSNET_TRY_VOID(graph.call(FusedLibrary::Mode::Trace, &visit));
  graph.plan().release();
  return values;
}

Result<Json> infer(LoadedGraph& graph, const graphdir::Metas& metas) {
  PASSNET_TRY(const std::vector<at::Tensor> inputs, inferable_inputs(metas, graph.plan().input_names()));
  graph.use_inputs(inputs);
  graph.forget_inputs();
  seed_generators();
  Json values = Json::object();
  graph.fused().mode = FusedLibrary::Mode::Infer;
  const auto restore = c10::make_scope_exit([&] { graph.fused().mode = FusedLibrary::Mode::Run; });
  infer_types(graph.plan(), [&](const ir::Node& node, const c10::IValue* value, const std::string& reason) {
    values[std::string(node.name)] = value != nullptr ? ir::to_json(value_of(*value)) : Json{{"unknown", reason}};
  });
  return values;
}

Result<CallOutputs> run_once(LoadedGraph& graph, bool checked, Share share, bool again, const wire::DeviceRoom* room) {
  PASSNET_TRY_VOID(graph.require_inputs());
  if (const LoadedGraph::LastRun* const last = graph.last_run(); last != nullptr && !again && share == Share::None) {
    CallOutputs known;
    known.layouts = last->layouts;
    known.peak_bytes = last->peak_bytes;
    return known;
  }
  // Kernels are run checked first. What a call changes it tells itself: big graphs are not called twice.
  if (graph.fused().size() > 0 && !checked) PASSNET_TRY_VOID(graph.learn_mutations());
  PASSNET_TRY_VOID(graph.call(checked ? FusedLibrary::Mode::Check : FusedLibrary::Mode::Run));
  graph.note_mutations();
  std::vector<c10::IValue> values = graph.plan().outputs();
  const CallResult result{call_outputs(values), graph.changed_inputs()};
  CallOutputs outputs;
  // Drawn after the call: no kernel can know what is looked at.
  PASSNET_TRY(const uint64_t seed, random_number());
  if (share != Share::None) {
    SharedResults shared(share == Share::All ? std::numeric_limits<int64_t>::max() : kMostJudged);
    shared.add(result, "", seed);
    PASSNET_TRY(SharedTensors tensors, share_with_peer(graph.device(), shared.names(), shared.tensors(), room));
    outputs = shared.finish(std::move(tensors));
  }
  outputs.rows_seed = seed;
  outputs.peak_bytes = graph.peak_bytes();
  outputs.layouts = layouts_of(values, graph.plan().input_names(), graph.inputs_in_use());
  const bool is_mapped = share == Share::All && outputs.tensors.memory;
  PASSNET_TRY_VOID(graph.keep_run(values, {result.outputs, result.inputs, outputs.layouts, outputs.peak_bytes, {}},
                                  is_mapped ? &outputs.tensors : nullptr));
  values.clear();
  graph.plan().release();
  return outputs;
}

Result<wire::DeviceRoom> lend_room(LoadedGraph& graph) {
  const LoadedGraph::LastRun* const last = graph.last_run();
  if (last == nullptr) return bad_input("there was no run").with_hint("send 'run' first");
  if (!graph.room.bytes.defined()) graph.room = make_room(graph.device(), {last->outputs, last->changed});
  if (!graph.room.bytes.defined()) return wire::DeviceRoom{};
  // Nothing of what another candidate left is found by the next.
  graph.room.bytes.fill_(0xA5);
  graph.device().synchronize();
  PASSNET_TRY(UniqueFd memory, duplicate(graph.room.memory.get(), "memory of the device"));
  return wire::DeviceRoom{graph.room.bytes.numel(), std::move(memory)};
}

namespace {
/// The inputs that another worker's call changed, by name.
std::map<std::string, CallOutput> changed_of(const std::vector<wire::Entry>& entries,
                                             const std::vector<at::Tensor>& tensors) {
  std::map<std::string, CallOutput> changed;
  for (size_t i = 0; i < entries.size(); ++i) {
    if (const auto name = changed_input(entries[i].name))
      changed.emplace(*name, CallOutput{tensors[i], {}, entries[i].rows_of});
  }
  return changed;
}
}  // namespace

Result<CallResult> result_of(const LoadedGraph& graph, const SharedTensors& found, const Json& scalars) {
  PASSNET_TRY(const std::vector<at::Tensor> tensors, peer_tensors(found, graph.room.bytes));
  return CallResult{shared_outputs(found.entries, tensors, scalars), changed_of(found.entries, tensors)};
}

protocol::CallChecks compare(const LoadedGraph& graph, const CallResult& found,
                             const std::vector<record::Layout>& found_layouts) {
  std::vector<record::OutputCheck> checks = check_outputs(graph.expected(), found.outputs);
  protocol::CallChecks told;
  told.compared = 1;
  for (const auto& [name, mine, theirs] : graph.changed_on_either_side(found.inputs))
    told.inputs.insert_or_assign(name, check_output(mine, theirs));
  const std::vector<record::Layout>& expected = graph.layouts();
  for (size_t i = 0; i < std::min({checks.size(), expected.size(), found_layouts.size()}); ++i) {
    if (expected[i] == found_layouts[i]) continue;
    checks[i].expected_layout = expected[i];
    checks[i].found_layout = found_layouts[i];
  }
  for (record::OutputCheck& check : checks) told.outputs.emplace_back(std::move(check));
  return told;
}

}  // namespace passnet::runtime
