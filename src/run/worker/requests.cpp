#include "run/worker/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <nlohmann/json.hpp>
#include <unordered_map>

#include "base/log.h"
#include "fx/print.h"
#include "graphdir/inputs/meta_json.h"
#include "pass/plan/kernel_file_json.h"
#include "record/verdict.h"
#include "run/worker/ask.h"

namespace passnet::run {

namespace {

using Timeout = std::chrono::milliseconds;

/// Asks for what has no reply but that it was done.
template <class Request>
Result<void> tell(Worker& worker, const Request& request, Timeout timeout, const std::vector<int>& fds = {}) {
  PASSNET_TRY_VOID(ask(worker, request, timeout, fds));
  return {};
}

/// The values of a reply, VALUE by node name, by node id of `graph`. complete: every node but the output must have one.
Result<Values> read_values(const std::string& what, const Json& by_name, const ir::Graph& graph, bool complete) {
  if (!by_name.is_object())
    return nonsense(what, fmt::format("expected values by node, found {}", by_name.type_name()));
  Values values(graph.size());
  for (ir::NodeId id = 0; id < graph.size(); ++id) {
    const ir::Node& node = graph.node(id);
    const auto found = by_name.find(node.name);
    if (found == by_name.end()) {
      if (!complete || node.kind == ir::NodeKind::Output) continue;
      return nonsense(what, fmt::format("no value of '{}'", node.name));
    }
    Result<ir::Value> value = ir::value_from_json(*found);
    if (!value) return nonsense(what, value.error().message);
    values[id] = std::move(*value);
  }
  return values;
}

}  // namespace

std::string model_text(const ir::Graph& graph) { return graph.source ? *graph.source : fx::print_model(graph); }

Result<Hello> greet(Worker& worker, Timeout timeout) {
  PASSNET_TRY(protocol::Answer<protocol::Hello> answer, ask(worker, protocol::Hello{}, timeout));
  return std::move(answer.reply);
}

Result<Hello> start_up(Worker& worker) {
  Result<Hello> hello = greet(worker, worker.start_timeout());
  if (!hello && hello.error().worker_lost && hello.error().failure != "interrupted") hello.error().failure = "resource";
  return hello;
}

Json kernels_to_json(const std::vector<std::vector<pass::BuiltKernel>>& kernels) {
  Json json = Json::array();
  for (const std::vector<pass::BuiltKernel>& of_list : kernels) {
    Json row = Json::array();
    for (const pass::BuiltKernel& kernel : of_list) row.push_back(to_json_object(kernel.file()));
    json.push_back(std::move(row));
  }
  return json;
}

Result<int64_t> load_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                           const std::vector<pass::LaunchList>& lists,
                           const std::vector<std::vector<pass::BuiltKernel>>& kernels, Timeout timeout,
                           const std::string& cuda_graph, CallDefences defences) {
  protocol::Load request;
  request.id = id;
  request.file = graph.file;
  request.model = lists.empty() && !worker.runs_python() ? model_text(graph) : fx::print_model(graph);
  request.launch_lists = pass::to_json(lists);
  request.kernels = kernels_to_json(kernels);
  request.cuda_graph = cuda_graph;
  request.poison = defences.poison;
  request.canaries = defences.canaries;
  PASSNET_TRY(protocol::Answer<protocol::Load> answer, ask(worker, request, timeout));
  if (!kernels.empty()) worker.set_kernel_process(answer.fds.empty() ? UniqueFd() : std::move(answer.fds[0]));
  return answer.reply.calls_at_once;
}

Result<std::vector<record::PassOutcome>> load_in_python(Worker& worker, const std::string& id, const ir::Graph& graph,
                                                        const std::vector<std::filesystem::path>& passes,
                                                        Timeout timeout) {
  protocol::Load request;
  request.id = id;
  request.file = graph.file;
  request.model = model_text(graph);
  for (const std::filesystem::path& pass : passes) request.passes.push_back(pass.string());
  PASSNET_TRY(const protocol::Answer<protocol::Load> answer, ask(worker, request, timeout));
  if (!answer.reply.passes) return nonsense("load", "expected the outcome of each pass");
  std::vector<record::PassOutcome> outcomes;
  for (const protocol::Load::PassOutcome& one : *answer.reply.passes)
    outcomes.push_back({one.pass, one.matches, 0, one.diagnosis});
  return outcomes;
}

namespace {
protocol::Inputs inputs_request(const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                                const std::string& input_kind, bool keep) {
  return {id, graphdir::to_json(graph.weights), graphdir::to_json(graph.inputs), seed, input_kind, true, keep};
}
}  // namespace

Result<Bundle> replay_inputs(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                             Timeout timeout, const std::string& input_kind, bool keep) {
  PASSNET_TRY(protocol::Answer<protocol::Inputs> answer,
              ask(worker, inputs_request(id, graph, seed, input_kind, keep), timeout));
  PASSNET_TRY(Bundle inputs, take_bundle("tensors", answer.reply.tensors, answer.fds));
  inputs.call_seed = answer.reply.call_seed;
  return inputs;
}

Result<void> draw_inputs(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                         Timeout timeout, const std::string& input_kind, bool keep) {
  protocol::Inputs request = inputs_request(id, graph, seed, input_kind, keep);
  request.share = false;
  return tell(worker, request, timeout);
}

Result<void> restore_inputs(Worker& worker, const std::string& id, Timeout timeout) {
  return tell(worker, protocol::SetInputs{.id = id, .restore = true}, timeout);
}

Result<void> rewind(Worker& reference, const std::string& id, Timeout timeout) {
  return tell(reference, protocol::Rewind{id}, timeout);
}

Result<void> share_inputs(Worker& worker, const std::string& id, const std::string& from, Timeout timeout) {
  return tell(worker, protocol::SetInputs{.id = id, .of = from}, timeout);
}

Result<void> set_inputs(Worker& worker, const std::string& id, const Bundle& inputs, Timeout timeout, bool replace) {
  return tell(worker, protocol::SetInputs{id, IndirectJson(wire::to_json(inputs.entries)), replace, inputs.call_seed},
              timeout, {inputs.fd.get()});
}

Result<Values> trace_graph(Worker& worker, const std::string& id, const ir::Graph& graph, Timeout timeout,
                           const std::vector<std::string>& measured) {
  PASSNET_TRY(const protocol::Answer<protocol::Trace> answer, ask(worker, protocol::Trace{id, measured}, timeout));
  return read_values("trace", *answer.reply.values, graph, false);
}

Result<Values> infer_types(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, Timeout timeout) {
  return infer_types(worker, id, graph.graph, graphdir::Metas{graph.weights, graph.inputs}, timeout);
}

Result<Values> infer_types(Worker& worker, const std::string& id, const ir::Graph& graph, const graphdir::Metas& metas,
                           Timeout timeout) {
  const protocol::Infer request{id, graphdir::to_json(metas.weights), graphdir::to_json(metas.inputs)};
  PASSNET_TRY(const protocol::Answer<protocol::Infer> answer, ask(worker, request, timeout));
  return read_values("infer", *answer.reply.values, graph, true);
}

namespace {
using RunAnswer = protocol::Answer<protocol::Run>;

Outputs with_tensors(Bundle tensors, protocol::Run::Reply& reply) {
  return {std::move(tensors), std::move(reply.scalars), std::move(reply.inputs), std::move(reply.layouts),
          reply.rows_seed};
}

Result<Outputs> outputs_of(Result<RunAnswer> answer) {
  if (!answer) return std::move(answer).error();
  PASSNET_TRY(Bundle tensors, take_bundle("outputs", answer->reply.outputs, answer->fds));
  return with_tensors(std::move(tensors), answer->reply);
}
}  // namespace

Result<Outputs> run_graph(Worker& worker, const std::string& id, bool checked, Timeout timeout) {
  return outputs_of(ask(worker, protocol::Run{id, checked}, timeout));
}

Result<wire::DeviceRoom> make_room(Worker& reference, const std::string& id, Timeout timeout) {
  PASSNET_TRY(protocol::Answer<protocol::MakeRoom> answer, ask(reference, protocol::MakeRoom{id}, timeout));
  wire::DeviceRoom room{answer.reply.room_bytes, {}};
  if (room.size_bytes > 0 && answer.fds.empty()) return nonsense("make_room", "no memory came with it");
  if (room.size_bytes > 0) room.memory = std::move(answer.fds[0]);
  return room;
}

Result<Outputs> run_into(Worker& candidate, const std::string& id, const wire::DeviceRoom& room, Timeout timeout) {
  if (!room.memory) return run_graph(candidate, id, true, timeout);
  const protocol::Run request{.id = id, .checked = true, .room_bytes = room.size_bytes};
  PASSNET_TRY(RunAnswer answer, ask(candidate, request, timeout, {room.memory.get()}));
  if (!answer.reply.in_room) return outputs_of(std::move(answer));
  log::debug("the outputs stay on the GPU");
  if (!answer.reply.outputs) return nonsense("run", "no outputs");
  Result<std::vector<wire::Entry>> entries = wire::entries_from_json(**answer.reply.outputs, room.size_bytes);
  if (!entries) return nonsense("run", entries.error().message);
  return with_tensors({std::move(*entries), {}, room.size_bytes}, answer.reply);
}

Result<Outputs> run_for_rows(Worker& worker, const std::string& id, Timeout timeout) {
  return outputs_of(ask(worker, protocol::Run{id, true, "some"}, timeout));
}

Result<std::vector<record::Layout>> run_alone(Worker& worker, const std::string& id, bool checked, Timeout timeout,
                                              bool again) {
  PASSNET_TRY(RunAnswer answer, ask(worker, protocol::Run{id, checked, "none", again}, timeout));
  return std::move(answer.reply.layouts);
}

namespace {
/// Asks with outputs, and inputs that the call changed; those in the reference's room it knows.
template <class Request>
Result<protocol::Answer<Request>> ask_about(Worker& reference, const Outputs& found, Request request, Timeout timeout) {
  request.tensors = wire::to_json(found.tensors.entries);
  request.tensors->insert(request.tensors->end(), found.inputs->begin(), found.inputs->end());
  request.scalars = found.scalars;
  if (found.tensors.fd) return ask(reference, request, timeout, {found.tensors.fd.get()});
  request.in_room = true;
  return ask(reference, request, timeout);
}
}  // namespace

Result<void> compare_outputs(Worker& reference, const std::string& id, const Outputs& found, record::RunRecord& record,
                             Timeout timeout) {
  PASSNET_TRY(protocol::Answer<protocol::Compare> answer,
              ask_about(reference, found, protocol::Compare{.id = id, .layouts = found.layouts}, timeout));
  record.outputs.clear();
  for (std::optional<record::OutputCheck>& check : answer.reply.outputs) {
    if (!check) return nonsense("compare", "an output without a check");
    record.outputs.push_back(std::move(*check));
  }
  record.inputs.clear();
  for (auto& [name, check] : answer.reply.inputs) record.inputs.push_back({name, std::move(check)});
  record.outputs_counted = true;
  record.expected_outputs = record.found_outputs = 0;
  for (const record::OutputCheck& check : record.outputs) {
    record.expected_outputs += check.expected_dtype.empty() ? 0 : 1;
    record.found_outputs += check.found_dtype.empty() ? 0 : 1;
  }
  return {};
}

Result<Judged> judge_outputs(Worker& reference, const std::string& id, const std::string& float64, const Outputs& found,
                             const std::string& input_kind, Timeout timeout) {
  const protocol::Judge request{.id = id, .float64 = float64, .rows_seed = found.rows_seed, .profile = input_kind};
  PASSNET_TRY(protocol::Answer<protocol::Judge> answer, ask_about(reference, found, request, timeout));
  return std::move(answer.reply);
}

Result<bool> depends_on(Worker& reference, const std::string& id, const std::string& input, Timeout timeout) {
  PASSNET_TRY(const protocol::Answer<protocol::DependsOn> answer,
              ask(reference, protocol::DependsOn{id, input}, timeout));
  return answer.reply.depends;
}

Result<CallSets> make_call_sets(Worker& reference, const std::string& id, int64_t wanted, Timeout timeout, bool whole) {
  PASSNET_TRY(protocol::Answer<protocol::MakeCallSets> answer,
              ask(reference, protocol::MakeCallSets{id, wanted, whole}, timeout));
  if (answer.fds.empty()) return nonsense("make_call_sets", "no memory came with it");
  return CallSets{std::move(answer.reply.tensors), answer.reply.stride, answer.reply.sets, std::move(answer.fds[0])};
}

Result<void> renew_call_sets(Worker& reference, const std::string& id, uint64_t seed, int64_t calls, Timeout timeout,
                             bool draw) {
  return tell(reference, protocol::RenewCallSets{id, seed, calls, draw}, timeout);
}

Result<void> set_call_sets(Worker& worker, const std::string& id, const CallSets& sets, Timeout timeout) {
  return tell(worker, protocol::SetCallSets{id, sets.tensors, sets.stride, sets.sets}, timeout, {sets.fd.get()});
}

namespace {
/// The rung that a timed call must pass. A hundred calls on as many inputs see the tail of honest rounding, which the one
/// checked call does not; what is computed differently when timed, or with half the digits, is far beyond.
constexpr int kTimedT = record::kCorrectT + record::kNearRungs;

void keep_worse(const std::optional<record::OutputCheck>& check, std::optional<record::OutputCheck>& known) {
  if (check && (!known || check->passes_from > known->passes_from)) known = check;
}
}  // namespace

Result<void> compare_calls(Worker& reference, const std::string& id, const Outputs& found, CallChecks& checks,
                           Timeout timeout) {
  std::vector<int> known;
  for (const auto& check : checks.outputs) known.push_back(check ? std::max(check->passes_from, kTimedT) : kTimedT);
  const protocol::CompareCalls request{
      id, wire::to_json(found.tensors.entries), found.scalars, found.rows_seed, known, kTimedT};
  PASSNET_TRY(const protocol::Answer<protocol::CompareCalls> answer,
              ask(reference, request, timeout, {found.tensors.fd.get()}));
  const CallChecks& told = answer.reply;
  checks.compared += told.compared;
  checks.outputs.resize(std::max(checks.outputs.size(), told.outputs.size()));
  for (size_t i = 0; i < told.outputs.size(); ++i) keep_worse(told.outputs[i], checks.outputs[i]);
  for (const auto& [name, check] : told.inputs) {
    const auto [at, is_new] = checks.inputs.emplace(name, check);
    if (!is_new && check.passes_from > at->second.passes_from) at->second = check;
  }
  return {};
}

namespace {
/// A profile of launches of these lists. Errors: "nonsense".
Result<protocol::CallProfile> ask_profile(Worker& worker, const std::string& id,
                                          const std::vector<pass::LaunchList>& lists, int calls, Timeout timeout) {
  PASSNET_TRY(protocol::Answer<protocol::Profile> answer, ask(worker, protocol::Profile{id, calls}, timeout));
  for (const protocol::CallProfile::Launch& one : answer.reply.profile.launches) {
    if (one.list >= lists.size() || one.launch >= lists[one.list].launches.size())
      return nonsense("profile", fmt::format("launch {} of list {}", one.launch, one.list));
  }
  return std::move(answer.reply.profile);
}
}  // namespace

Result<std::vector<std::vector<double>>> time_launches(Worker& worker, const std::string& id,
                                                       const std::vector<pass::LaunchList>& lists, int calls,
                                                       Timeout timeout) {
  PASSNET_TRY(const protocol::CallProfile profile, ask_profile(worker, id, lists, calls, timeout));
  std::vector<std::vector<double>> us;
  for (const pass::LaunchList& list : lists)
    us.emplace_back(list.launches.size(), std::numeric_limits<double>::infinity());
  for (const protocol::CallProfile::Launch& one : profile.launches) us[one.list][one.launch] = one.us;
  return us;
}

Result<record::Profile> profile_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                                      const std::vector<pass::LaunchList>& lists, int calls, Timeout timeout) {
  PASSNET_TRY(const protocol::CallProfile told, ask_profile(worker, id, lists, calls, timeout));
  std::unordered_map<std::string_view, ir::NodeId> by_name;
  for (ir::NodeId node = 0; node < graph.size(); ++node) by_name.emplace(graph.node(node).name, node);
  record::Profile profile;
  profile.call_us = told.call_us;
  for (const protocol::CallProfile::Launch& one : told.launches) {
    const pass::Launch& launched = lists[one.list].launches[one.launch];
    profile.launches.push_back({lists[one.list].pass, launched.kernel, static_cast<int>(launched.at.line),
                                static_cast<int>(one.list), one.us, one.bytes, one.bound_us});
  }
  for (const protocol::CallProfile::Operator& one : told.others) {
    const auto node = by_name.find(one.node);
    if (node == by_name.end()) return nonsense("profile", "an operator that the graph does not have");
    profile.others.push_back({fx::print_node(graph, graph.node(node->second)), one.us});
  }
  std::sort(profile.others.begin(), profile.others.end(), [](const auto& a, const auto& b) { return a.us > b.us; });
  return profile;
}

record::DeviceMemory forget_graph(Worker& worker, const std::string& id, Timeout timeout) {
  if (!worker.alive()) return {};
  const Result<protocol::Answer<protocol::Unload>> answer = ask(worker, protocol::Unload{id}, timeout);
  if (!answer || !answer->reply.device_memory) return {};
  return *answer->reply.device_memory;
}

}  // namespace passnet::run
