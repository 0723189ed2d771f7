#include "runtime/session/session.h"

#include <c10/core/InferenceMode.h>

#include <algorithm>
#include <string_view>

#include "runtime/infer/infer.h"
#include "runtime/infer/inputs.h"
#include "runtime/plan/profile.h"
#include "runtime/session/call_checks.h"
#include "runtime/session/fresh_calls.h"
#include "runtime/session/judge.h"
#include "runtime/session/loaded_graph.h"
#include "runtime/session/process.h"
#include "runtime/session/timed_calls.h"
#include "runtime/tensor/placement.h"
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

Result<void> Session::set_inputs(std::vector<wire::Entry> entries, wire::Mapping mapping, UniqueFd fd) {
  const c10::InferenceMode mode;
  return graph_->set_inputs(make_input_set(std::move(entries), std::move(mapping), std::move(fd)));
}

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
  infer_types(graph_->plan(), [&](const ir::Node& node, const c10::IValue* value, const std::string& reason) {
    values[std::string(node.name)] = value != nullptr ? ir::to_json(value_of(*value)) : Json{{"unknown", reason}};
  });
  return values;
}

Result<CallOutputs> Session::run(bool checked) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(graph_->require_inputs());
  // Kernels are run checked first. What a call changes it tells itself: big graphs are not called twice.
  if (graph_->fused().size() > 0 && !checked) PASSNET_TRY_VOID(graph_->learn_mutations());
  PASSNET_TRY_VOID(graph_->call(checked ? FusedLibrary::Mode::Check : FusedLibrary::Mode::Run));
  graph_->note_mutations();
  std::vector<c10::IValue> values = graph_->plan().outputs();
  std::vector<CallOutput> kept = call_outputs(values);
  CallOutputs outputs;
  outputs.peak_bytes = graph_->peak_bytes();
  outputs.scalars = Json::object();
  outputs.layouts = layouts_of(values, graph_->plan().input_names(), graph_->inputs_in_use());
  graph_->layouts = outputs.layouts;
  std::vector<std::string> names;
  std::vector<at::Tensor> tensors;
  for (size_t i = 0; i < kept.size(); ++i) {
    if (kept[i].tensor.defined()) {
      names.push_back(output_name(i));
      tensors.push_back(kept[i].tensor);
    } else {
      outputs.scalars[output_name(i)] = kept[i].scalar;
    }
  }
  std::map<std::string, at::Tensor> changed = graph_->changed_inputs();
  for (const auto& [name, tensor] : changed) {
    names.push_back(changed_input_name(name));
    tensors.push_back(tensor);
  }
  PASSNET_TRY(outputs.tensors, share(names, tensors));
  tensors.clear();
  PASSNET_TRY_VOID(graph_->keep_outputs(values, std::move(kept), outputs.tensors));
  graph_->changed = std::move(changed);
  values.clear();
  graph_->plan().release();
  return outputs;
}

namespace {
/// The inputs that another worker's call changed, by name.
std::map<std::string, at::Tensor> changed_of(const std::vector<wire::Entry>& found, const wire::Mapping& mapping) {
  std::map<std::string, at::Tensor> changed;
  const std::vector<at::Tensor> tensors = view_shared(found, mapping);
  for (size_t i = 0; i < found.size(); ++i) {
    if (const auto name = changed_input(found[i].name)) changed.emplace(*name, tensors[i]);
  }
  return changed;
}
}  // namespace

Result<CallChecks> Session::compare(const std::vector<wire::Entry>& found, const wire::Mapping& mapping,
                                    const Json& found_scalars, const std::vector<record::Layout>& found_layouts) {
  const c10::InferenceMode mode;
  std::vector<record::OutputCheck> checks =
      check_outputs(graph_->expected(), shared_outputs(found, mapping, found_scalars));
  CallChecks told;
  told.compared = 1;
  for (const auto& [name, mine, theirs] : graph_->changed_on_either_side(changed_of(found, mapping))) {
    told.input_names.push_back(name);
    told.inputs.push_back(check_output({mine, {}}, {theirs, {}}));
  }
  const std::vector<record::Layout>& expected = graph_->layouts;
  for (size_t i = 0; i < std::min({checks.size(), expected.size(), found_layouts.size()}); ++i) {
    if (expected[i] == found_layouts[i]) continue;
    checks[i].expected_layout = expected[i];
    checks[i].found_layout = found_layouts[i];
  }
  for (record::OutputCheck& check : checks) told.outputs.emplace_back(std::move(check));
  return told;
}

Result<Judgement> Session::judge(const std::vector<wire::Entry>& found, const wire::Mapping& mapping,
                                 const Json& found_scalars, Session* float64, const std::string& profile) {
  const c10::InferenceMode mode;
  const CallResult result{shared_outputs(found, mapping, found_scalars), changed_of(found, mapping)};
  return judge_call(*graph_, float64 != nullptr ? float64->graph_.get() : nullptr, result, profile);
}

Result<Json> Session::profile(int calls) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(graph_->require_inputs());
  PASSNET_TRY_VOID(graph_->learn_mutations());
  PASSNET_TRY(const CallProfile profile,
              profile_calls(graph_->plan(), graph_->fused(), calls, [&] { graph_->prepare_call(); }));
  Json launches = Json::array(), others = Json::array();
  for (const LaunchTime& one : profile.launches)
    launches.push_back(
        {{"list", one.list}, {"launch", one.launch}, {"us", one.us}, {"bytes", one.bytes}, {"bound_us", one.bound_us}});
  for (const NodeTime& one : profile.others) others.push_back({{"node", one.node}, {"us", one.us}});
  return Json{{"call_us", profile.call_us}, {"launches", std::move(launches)}, {"others", std::move(others)}};
}

Result<CallTimes> Session::time(const TimeOptions& options) {
  const c10::InferenceMode mode;
  return time_calls(*graph_, options);
}

Result<ClockReadings> Session::read_clocks(int64_t calls) {
  const c10::InferenceMode mode;
  return runtime::read_clocks(*graph_, calls);
}

int64_t Session::calls_at_once() const {
  const KernelHost* host = graph_->fused().host();
  return host != nullptr && graph_->plan().launches_only() ? static_cast<int64_t>(host->calls_at_a_time()) : 1;
}

int Session::kernel_process() const {
  const KernelHost* host = graph_->fused().host();
  return host != nullptr ? host->process() : -1;
}

void Session::set_metas(graphdir::Metas metas) { graph_->metas = std::move(metas); }

Result<SharedSets> Session::make_call_sets(int64_t wanted) {
  const c10::InferenceMode mode;
  PASSNET_TRY_VOID(graph_->require_inputs());
  SharedSets shared;
  PASSNET_TRY(graph_->call_sets, CallSets::make(*graph_->input_set(), wanted, &shared.tensors.memory));
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
  PASSNET_TRY(FreshTimes timed, time_fresh_calls(*graph_, *graph_->call_sets, options));
  graph_->expected_calls = std::move(timed.results);
  return std::move(timed.times);
}

Result<CallChecks> Session::compare_calls(const std::vector<wire::Entry>& found, const wire::Mapping& mapping,
                                          const Json& found_scalars, const std::vector<int>& known,
                                          std::optional<int> allowed) {
  const c10::InferenceMode mode;
  return check_calls(graph_->expected_calls, *graph_->call_sets, graph_->plan().input_names(), found, mapping,
                     found_scalars, known, allowed, graph_->budgets);
}

}  // namespace passnet::runtime
