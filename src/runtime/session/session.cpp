#include "runtime/session/session.h"

#include <c10/core/InferenceMode.h>
#include <c10/util/ScopeExit.h>

#include <algorithm>
#include <limits>

#include "base/random.h"
#include "runtime/infer/infer.h"
#include "runtime/infer/inputs.h"
#include "runtime/plan/profile.h"
#include "runtime/session/call_checks.h"
#include "runtime/session/fresh_calls.h"
#include "runtime/session/judge.h"
#include "runtime/session/kind_inputs.h"
#include "runtime/session/loaded_graph.h"
#include "runtime/session/peer_tensors.h"
#include "runtime/session/perturbed.h"
#include "runtime/session/process.h"
#include "runtime/session/timed_calls.h"
#include "runtime/tensor/placement.h"
#include "runtime/tensor/rows.h"
#include "runtime/tensor/share.h"
#include "runtime/tensor/statistics.h"
#include "runtime/tensor/value.h"

namespace passnet::runtime {

Session::Session(std::unique_ptr<LoadedGraph> graph) : graph_(std::move(graph)) {}
Session::Session(Session&&) noexcept = default;
Session& Session::operator=(Session&&) noexcept = default;
Session::~Session() = default;

Result<Session> Session::load(Source source) {
  const c10::InferenceMode mode;
  PASSNET_TRY(std::unique_ptr<LoadedGraph> graph, LoadedGraph::load(std::move(source), device()));
  return Session(std::move(graph));
}

bool Session::has_kernels() const { return graph_->fused().size() > 0 && graph_->can_launch(); }

size_t Session::operator_calls() const { return graph_->plan().operator_calls(); }

Result<void> Session::set_inputs(std::vector<wire::Entry> entries, wire::Mapping mapping, UniqueFd fd,
                                 std::optional<uint64_t> call_seed, bool replace, const std::string& kept_as) {
  const c10::InferenceMode mode;
  std::shared_ptr<const InputSet> set =
      make_input_set(std::move(entries), std::move(mapping), std::move(fd), call_seed.value_or(kCallSeed));
  return replace ? graph_->replace_inputs(std::move(set), kept_as) : graph_->set_inputs(std::move(set), kept_as);
}

bool Session::has_inputs() const { return graph_->input_set() != nullptr; }

Result<void> Session::set_inputs_of(const Session& other) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(other.graph_->require_inputs());
  return graph_->set_inputs(other.graph_->input_set());
}

Result<Json> Session::trace(const std::vector<std::string>& measured) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(graph_->require_inputs());
  PASSNET_TRY_VOID(graph_->learn_mutations());
  Json values = Json::object();
  std::vector<std::string_view> wanted(measured.begin(), measured.end());
  std::sort(wanted.begin(), wanted.end());
  const Plan::NodeVisitor visit = [&](const ir::Node& node, const c10::IValue& value) {
    Json& told = values[std::string(node.name)] = ir::to_json(value_of(value));
    // What a vmap stands for has no memory of its own.
    const bool measurable = told.contains("shape") && value.toTensor().has_storage();
    if (measurable && std::binary_search(wanted.begin(), wanted.end(), node.name))
      told["statistics"] = statistics_json(value.toTensor());
  };
  PASSNET_TRY_VOID(graph_->call(FusedLibrary::Mode::Trace, &visit));
  graph_->plan().release();
  return values;
}

Result<Json> Session::infer(const graphdir::Metas& metas) {
  const c10::InferenceMode mode;
  PASSNET_TRY(const std::vector<at::Tensor> inputs, inferable_inputs(metas, graph_->plan().input_names()));
  graph_->use_inputs(inputs);
  graph_->forget_inputs();
  seed_generators();
  Json values = Json::object();
  graph_->fused().mode = FusedLibrary::Mode::Infer;
  const auto restore = c10::make_scope_exit([&] { graph_->fused().mode = FusedLibrary::Mode::Run; });
  infer_types(graph_->plan(), [&](const ir::Node& node, const c10::IValue* value, const std::string& reason) {
    values[std::string(node.name)] = value != nullptr ? ir::to_json(value_of(*value)) : Json{{"unknown", reason}};
  });
  return values;
}

Result<CallOutputs> Session::run(bool checked, Share share, bool again, const wire::DeviceRoom* room) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(graph_->require_inputs());
  if (const LoadedGraph::LastRun* const last = graph_->last_run(); last != nullptr && !again && share == Share::None) {
    CallOutputs known;
    known.layouts = last->layouts;
    known.peak_bytes = last->peak_bytes;
    return known;
  }
  // Kernels are run checked first. What a call changes it tells itself: big graphs are not called twice.
  if (graph_->fused().size() > 0 && !checked) PASSNET_TRY_VOID(graph_->learn_mutations());
  PASSNET_TRY_VOID(graph_->call(checked ? FusedLibrary::Mode::Check : FusedLibrary::Mode::Run));
  graph_->note_mutations();
  std::vector<c10::IValue> values = graph_->plan().outputs();
  const CallResult result{call_outputs(values), graph_->changed_inputs()};
  CallOutputs outputs;
  // Drawn after the call: no kernel can know what is looked at.
  PASSNET_TRY(const uint64_t seed, random_number());
  if (share != Share::None) {
    SharedResults shared(share == Share::All ? std::numeric_limits<int64_t>::max() : kMostJudged);
    shared.add(result, "", seed);
    PASSNET_TRY(SharedTensors tensors, share_with_peer(graph_->device(), shared.names(), shared.tensors(), room));
    outputs = shared.finish(std::move(tensors));
  }
  outputs.rows_seed = seed;
  outputs.peak_bytes = graph_->peak_bytes();
  outputs.layouts = layouts_of(values, graph_->plan().input_names(), graph_->inputs_in_use());
  const bool is_mapped = share == Share::All && outputs.tensors.memory;
  PASSNET_TRY_VOID(graph_->keep_run(values, {result.outputs, result.inputs, outputs.layouts, outputs.peak_bytes, {}},
                                    is_mapped ? &outputs.tensors : nullptr));
  values.clear();
  graph_->plan().release();
  return outputs;
}

Result<wire::DeviceRoom> Session::make_room() {
  const c10::InferenceMode mode;
  const LoadedGraph::LastRun* const last = graph_->last_run();
  if (last == nullptr) return bad_input("there was no run").with_hint("send 'run' first");
  if (!graph_->room.bytes.defined())
    graph_->room = runtime::make_room(graph_->device(), {last->outputs, last->changed});
  if (!graph_->room.bytes.defined()) return wire::DeviceRoom{};
  // Nothing of what another candidate left is found by the next.
  graph_->room.bytes.fill_(0xA5);
  graph_->device().synchronize();
  PASSNET_TRY(UniqueFd memory, duplicate(graph_->room.memory.get(), "memory of the device"));
  return wire::DeviceRoom{graph_->room.bytes.numel(), std::move(memory)};
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

Result<CallResult> result_of(const LoadedGraph& graph, const SharedTensors& found, const Json& scalars) {
  PASSNET_TRY(const std::vector<at::Tensor> tensors, peer_tensors(found, graph.room.bytes));
  return CallResult{shared_outputs(found.entries, tensors, scalars), changed_of(found.entries, tensors)};
}
}  // namespace

Result<CallChecks> Session::compare(const SharedTensors& found, const Json& found_scalars,
                                    const std::vector<record::Layout>& found_layouts) {
  const c10::InferenceMode mode;
  PASSNET_TRY(const CallResult result, result_of(*graph_, found, found_scalars));
  std::vector<record::OutputCheck> checks = check_outputs(graph_->expected(), result.outputs);
  CallChecks told;
  told.compared = 1;
  for (const auto& [name, mine, theirs] : graph_->changed_on_either_side(result.inputs)) {
    told.input_names.push_back(name);
    told.inputs.push_back(check_output(mine, theirs));
  }
  const std::vector<record::Layout>& expected = graph_->layouts();
  for (size_t i = 0; i < std::min({checks.size(), expected.size(), found_layouts.size()}); ++i) {
    if (expected[i] == found_layouts[i]) continue;
    checks[i].expected_layout = expected[i];
    checks[i].found_layout = found_layouts[i];
  }
  for (record::OutputCheck& check : checks) told.outputs.emplace_back(std::move(check));
  return told;
}

Result<protocol::Judge::Reply> Session::judge(const SharedTensors& found, const Json& found_scalars, uint64_t rows_seed,
                                              Session* float64, const std::string& input_kind) {
  const c10::InferenceMode mode;
  PASSNET_TRY(const CallResult result, result_of(*graph_, found, found_scalars));
  return judge_call(*graph_, float64 != nullptr ? float64->graph_.get() : nullptr, result, rows_seed, input_kind);
}

Result<bool> Session::depends_on(const std::string& input) {
  const c10::InferenceMode mode;
  return runtime::depends_on(*graph_, input);
}

Result<protocol::CallProfile> Session::profile(int calls) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(graph_->require_inputs());
  PASSNET_TRY_VOID(graph_->learn_mutations());
  return profile_calls(graph_->plan(), graph_->fused(), calls, [&] { graph_->prepare_call(); });
}

Result<CallTimes> Session::time(const TimeOptions& options) {
  const c10::InferenceMode mode;
  return time_calls(*graph_, options);
}

Result<protocol::ReadClocks::Reply> Session::read_clocks(int64_t calls) {
  const c10::InferenceMode mode;
  return runtime::read_clocks(*graph_, calls);
}

int64_t Session::calls_at_once() const {
  return graph_->hands_over() ? static_cast<int64_t>(graph_->fused().host()->calls_at_a_time()) : 1;
}

int Session::kernel_process() const {
  const KernelHost* host = graph_->fused().host();
  return host != nullptr ? host->process() : -1;
}

void Session::set_metas(graphdir::Metas metas) { graph_->metas = std::move(metas); }

Result<void> Session::draw_inputs(const graphdir::Metas& metas, uint32_t seed, const std::string& input_kind,
                                  const std::string& kept_as) {
  const c10::InferenceMode mode;
  PASSNET_TRY(std::shared_ptr<const InputSet> drawn, draw_inputs_of_kind(metas, seed, input_kind));
  return graph_->replace_inputs(std::move(drawn), kept_as);
}

Result<bool> Session::recall_inputs(const std::string& kept_as) {
  const c10::InferenceMode mode;
  return graph_->recall_inputs(kept_as);
}

Result<SharedTensors> Session::share_inputs() const {
  PASSNET_TRY_VOID(graph_->require_inputs());
  const InputSet& set = *graph_->input_set();
  PASSNET_TRY(UniqueFd memory, duplicate(set.fd.get(), "the inputs"));
  return SharedTensors{set.entries, std::move(memory)};
}

Result<void> Session::restore_inputs() {
  const c10::InferenceMode mode;
  return graph_->restore_inputs();
}

Result<void> Session::rewind() {
  const c10::InferenceMode mode;
  return graph_->rewind();
}

Result<SharedSets> Session::make_call_sets(int64_t wanted, bool whole) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(graph_->require_inputs());
  SharedSets shared;
  PASSNET_TRY(graph_->call_sets, CallSets::make({*graph_->input_set(), graph_->metas, graph_->outputs_bytes(),
                                                 graph_->device().room_bytes(), whole},
                                                wanted, &shared.tensors.memory));
  shared.tensors.entries = graph_->call_sets->entries();
  shared.stride = graph_->call_sets->stride();
  shared.sets = graph_->call_sets->size();
  return shared;
}

Result<void> Session::renew_call_sets(uint64_t seed, int64_t count, bool draw) {
  const c10::InferenceMode mode;
  if (!graph_->call_sets) return bad_input("there are no sets of inputs").with_hint("send 'make_call_sets' first");
  return graph_->call_sets->renew(*graph_->input_set(), graph_->metas, seed, count, draw);
}

void Session::set_call_sets(SharedSets sets, wire::Mapping mapping) {
  graph_->call_sets =
      std::make_unique<CallSets>(std::move(sets.tensors.entries), sets.stride, sets.sets, std::move(mapping));
}

Result<FreshCallTimes> Session::time_on_sets(const FreshOptions& options) {
  const c10::InferenceMode mode;
  if (!graph_->call_sets) return bad_input("there are no sets of inputs").with_hint("send 'set_call_sets' first");
  graph_->call_sets->follow(options.seed, options.draw);
  graph_->call_sets->plant(options.planted);
  PASSNET_TRY(FreshTimes timed, time_fresh_calls(*graph_, *graph_->call_sets, options));
  FreshCallTimes told;
  told.times = std::move(timed.times);
  PASSNET_TRY(told.outputs, share_results(timed.results, graph_->shared_results));
  return told;
}

Result<CallTimes> Session::time_expected(const FreshOptions& options) {
  const c10::InferenceMode mode;
  if (!graph_->call_sets) return bad_input("there are no sets of inputs").with_hint("send 'make_call_sets' first");
  graph_->expected_calls.clear();
  graph_->call_sets->follow(options.seed, options.draw);
  graph_->call_sets->plant(options.planted);
  PASSNET_TRY(FreshTimes timed, time_fresh_calls(*graph_, *graph_->call_sets, options));
  graph_->expected_calls = std::move(timed.results);
  return std::move(timed.times);
}

Result<CallChecks> Session::compare_calls(const SharedTensors& found, const Json& found_scalars, uint64_t rows_seed,
                                          const std::vector<int>& known, std::optional<int> allowed) {
  const c10::InferenceMode mode;
  PASSNET_TRY(const std::vector<at::Tensor> tensors, peer_tensors(found, graph_->room.bytes));
  return check_calls(*graph_, {found.entries, tensors, found_scalars, rows_seed}, known, allowed);
}

}  // namespace passnet::runtime
