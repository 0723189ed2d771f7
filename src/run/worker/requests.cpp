#include "run/worker/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <limits>
#include <unordered_map>

#include "base/log.h"
#include "fx/print.h"
#include "graphdir/meta_json.h"
#include "record/verdict.h"
#include "run/worker/kernel_json.h"

namespace passnet::run {

namespace {

using Timeout = std::chrono::milliseconds;

/// The values of a reply, VALUE by node name, by node id of `graph`. complete: every node but the output must have one.
Result<Values> read_values(const std::string& what, const Json& reply, const ir::Graph& graph, bool complete) {
  std::unordered_map<std::string_view, const Json*> by_name;
  Values values(graph.size());
  return read_fields(what, [&]() -> Result<Values> {
    for (const auto& [name, value] : reply.at("values").get_ref<const Json::object_t&>()) by_name.emplace(name, &value);
    for (ir::NodeId id = 0; id < graph.size(); ++id) {
      const ir::Node& node = graph.node(id);
      const auto found = by_name.find(node.name);
      if (found == by_name.end()) {
        if (!complete || node.kind == ir::NodeKind::Output) continue;
        return nonsense(what, fmt::format("no value of '{}'", node.name));
      }
      Result<ir::Value> value = ir::value_from_json(*found->second);
      if (!value) return nonsense(what, value.error().message);
      values[id] = std::move(*value);
    }
    return std::move(values);
  });
}

}  // namespace

std::string model_text(const ir::Graph& graph) { return graph.source ? *graph.source : fx::print_model(graph); }

Error nonsense(const std::string& what, const std::string& why) {
  return resource_error(fmt::format("the worker's answer to '{}' is not understood: {}", what, why))
      .with_failure("nonsense");
}

Error nonsense_of_json(const std::string& what) {
  try {
    throw;
  } catch (const nlohmann::json::exception& problem) {
    return nonsense(what, problem.what());
  }
}

Result<Hello> greet(Worker& worker, Timeout timeout) {
  PASSNET_TRY(const Reply reply, worker.ask({{"do", "hello"}}, {}, timeout));
  return read_fields("hello", [&]() -> Result<Hello> {
    return Hello{reply.json->value("torch", ""),       reply.json->value("hardware", ""),
                 reply.json->value("isolation", ""),   reply.json->value("architecture", ""),
                 reply.json->at("threads").get<int>(), reply.json->value("compiler", "")};
  });
}

Result<Hello> start_up(Worker& worker) {
  Result<Hello> hello = greet(worker, worker.start_timeout());
  if (!hello && hello.error().worker_lost && hello.error().failure != "interrupted") hello.error().failure = "resource";
  return hello;
}

Result<int64_t> load_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                           const std::vector<pass::LaunchList>& lists,
                           const std::vector<std::vector<pass::BuiltKernel>>& kernels, Timeout timeout,
                           const std::string& cuda_graph, CallDefences defences) {
  Json request{{"do", "load"},
               {"id", id},
               {"file", graph.file},
               {"model", lists.empty() && !worker.runs_python() ? model_text(graph) : fx::print_model(graph)},
               {"launch_lists", Json::array()},
               {"kernels", Json::array()},
               {"cuda_graph", cuda_graph}};
  if (!defences.poison) request["poison"] = false;
  if (!defences.canaries) request["canaries"] = false;
  for (const pass::LaunchList& list : lists) request["launch_lists"].push_back(pass::to_json(list));
  for (const auto& of_list : kernels) {
    Json row = Json::array();
    for (const pass::BuiltKernel& kernel : of_list) row.push_back(to_json(kernel));
    request["kernels"].push_back(std::move(row));
  }
  PASSNET_TRY(Reply reply, worker.ask(request, {}, timeout));
  if (!kernels.empty()) worker.set_kernel_process(reply.fds.empty() ? UniqueFd() : std::move(reply.fds[0]));
  return reply.json->value("calls_at_once", int64_t{1});
}

Result<std::vector<record::PassOutcome>> load_in_python(Worker& worker, const std::string& id, const ir::Graph& graph,
                                                        const std::vector<std::filesystem::path>& passes,
                                                        Timeout timeout) {
  Json request{
      {"do", "load"}, {"id", id}, {"file", graph.file}, {"model", model_text(graph)}, {"passes", Json::array()}};
  for (const std::filesystem::path& pass : passes) request["passes"].push_back(pass.string());
  PASSNET_TRY(const Reply reply, worker.ask(request, {}, timeout));
  return read_fields("load", [&]() -> Result<std::vector<record::PassOutcome>> {
    std::vector<record::PassOutcome> outcomes;
    for (const Json& one : reply.json->at("passes")) {
      outcomes.push_back(
          {one.at("pass").get<std::string>(), one.at("matches").get<int>(), 0, one.at("diagnosis").get<std::string>()});
    }
    return outcomes;
  });
}

namespace {
Json inputs_request(const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                    const std::string& input_kind, bool keep) {
  Json request{{"do", "inputs"},
               {"id", id},
               {"weight_meta", graphdir::to_json(graph.weights)},
               {"input_meta", graphdir::to_json(graph.inputs)},
               {"seed", seed},
               {"profile", input_kind}};
  if (keep) request["keep"] = true;
  return request;
}
}  // namespace

Result<Bundle> replay_inputs(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                             Timeout timeout, const std::string& input_kind, bool keep) {
  PASSNET_TRY(Reply reply, worker.ask(inputs_request(id, graph, seed, input_kind, keep), {}, timeout));
  PASSNET_TRY(Bundle inputs, take_bundle(reply, "tensors"));
  return read_fields("inputs", [&]() -> Result<Bundle> {
    if (const auto seed = reply.json->find("call_seed"); seed != reply.json->end())
      inputs.call_seed = seed->get<uint64_t>();
    return std::move(inputs);
  });
}

Result<void> draw_inputs(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                         Timeout timeout, const std::string& input_kind, bool keep) {
  Json request = inputs_request(id, graph, seed, input_kind, keep);
  request["share"] = false;
  PASSNET_TRY_VOID(worker.ask(request, {}, timeout));
  return {};
}

Result<void> restore_inputs(Worker& worker, const std::string& id, Timeout timeout) {
  PASSNET_TRY_VOID(worker.ask({{"do", "set_inputs"}, {"id", id}, {"restore", true}}, {}, timeout));
  return {};
}

Result<void> rewind(Worker& reference, const std::string& id, Timeout timeout) {
  PASSNET_TRY_VOID(reference.ask({{"do", "rewind"}, {"id", id}}, {}, timeout));
  return {};
}

Result<void> share_inputs(Worker& worker, const std::string& id, const std::string& from, Timeout timeout) {
  PASSNET_TRY_VOID(worker.ask({{"do", "set_inputs"}, {"id", id}, {"of", from}}, {}, timeout));
  return {};
}

Result<void> set_inputs(Worker& worker, const std::string& id, const Bundle& inputs, Timeout timeout, bool replace) {
  Json request{{"do", "set_inputs"}, {"id", id}, {"tensors", wire::to_json(inputs.entries)}};
  if (replace) request["replace"] = true;
  if (inputs.call_seed) request["call_seed"] = *inputs.call_seed;
  PASSNET_TRY_VOID(worker.ask(request, {inputs.fd.get()}, timeout));
  return {};
}

Result<Values> trace_graph(Worker& worker, const std::string& id, const ir::Graph& graph, Timeout timeout,
                           const std::vector<std::string>& measured) {
  PASSNET_TRY(const Reply reply, worker.ask({{"do", "trace"}, {"id", id}, {"measured", measured}}, {}, timeout));
  return read_values("trace", *reply.json, graph, false);
}

Result<Values> infer_types(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, Timeout timeout) {
  return infer_types(worker, id, graph.graph, graphdir::Metas{graph.weights, graph.inputs}, timeout);
}

Result<Values> infer_types(Worker& worker, const std::string& id, const ir::Graph& graph, const graphdir::Metas& metas,
                           Timeout timeout) {
  const Json request{{"do", "infer"},
                     {"id", id},
                     {"weight_meta", graphdir::to_json(metas.weights)},
                     {"input_meta", graphdir::to_json(metas.inputs)}};
  PASSNET_TRY(const Reply reply, worker.ask(request, {}, timeout));
  return read_values("infer", *reply.json, graph, true);
}

namespace {
/// The rest of a run's reply.
Outputs with_tensors(Bundle tensors, const Reply& reply) {
  return {std::move(tensors), reply.json->value("scalars", Json::object()), reply.json->value("inputs", Json::array()),
          reply.json->value("layouts", Json::array()), reply.json->value("rows_seed", uint64_t{0})};
}

Result<Outputs> outputs_of(Reply reply) {
  PASSNET_TRY(Bundle tensors, take_bundle(reply, "outputs"));
  return with_tensors(std::move(tensors), reply);
}
}  // namespace

Result<Outputs> run_graph(Worker& worker, const std::string& id, bool checked, Timeout timeout) {
  PASSNET_TRY(Reply reply, worker.ask({{"do", "run"}, {"id", id}, {"checked", checked}}, {}, timeout));
  return outputs_of(std::move(reply));
}

Result<wire::DeviceRoom> make_room(Worker& reference, const std::string& id, Timeout timeout) {
  PASSNET_TRY(Reply reply, reference.ask({{"do", "make_room"}, {"id", id}}, {}, timeout));
  return read_fields("make_room", [&]() -> Result<wire::DeviceRoom> {
    wire::DeviceRoom room{reply.json->at("room_bytes").get<int64_t>(), {}};
    if (room.size_bytes > 0 && reply.fds.empty()) return nonsense("make_room", "no memory came with it");
    if (room.size_bytes > 0) room.memory = std::move(reply.fds[0]);
    return room;
  });
}

Result<Outputs> run_into(Worker& candidate, const std::string& id, const wire::DeviceRoom& room, Timeout timeout) {
  if (!room.memory) return run_graph(candidate, id, true, timeout);
  const Json request{{"do", "run"}, {"id", id}, {"checked", true}, {"room_bytes", room.size_bytes}};
  PASSNET_TRY(Reply reply, candidate.ask(request, {room.memory.get()}, timeout));
  if (!reply.json->value("in_room", false)) return outputs_of(std::move(reply));
  log::debug("the outputs stay on the GPU");
  return read_fields("run", [&]() -> Result<Outputs> {
    PASSNET_TRY(std::vector<wire::Entry> entries, wire::entries_from_json(reply.json->at("outputs"), room.size_bytes));
    return with_tensors({std::move(entries), {}, room.size_bytes}, reply);
  });
}

Result<Outputs> run_for_rows(Worker& worker, const std::string& id, Timeout timeout) {
  const Json request{{"do", "run"}, {"id", id}, {"checked", true}, {"share", "some"}};
  PASSNET_TRY(Reply reply, worker.ask(request, {}, timeout));
  return outputs_of(std::move(reply));
}

Result<Json> run_alone(Worker& worker, const std::string& id, bool checked, Timeout timeout, bool again) {
  Json request{{"do", "run"}, {"id", id}, {"checked", checked}, {"share", "none"}};
  if (!again) request["again"] = false;
  PASSNET_TRY(const Reply reply, worker.ask(request, {}, timeout));
  return reply.json->value("layouts", Json::array());
}

namespace {
/// Asks with outputs, and inputs that the call changed; those in the reference's room it knows.
Result<Reply> ask_about(Worker& reference, const Outputs& found, Json request, Timeout timeout) {
  Json& tensors = request["tensors"] = wire::to_json(found.tensors.entries);
  tensors.insert(tensors.end(), found.inputs->begin(), found.inputs->end());
  if (found.tensors.fd) return reference.ask(request, {found.tensors.fd.get()}, timeout);
  request["in_room"] = true;
  return reference.ask(request, {}, timeout);
}
}  // namespace

Result<void> compare_outputs(Worker& reference, const std::string& id, const Outputs& found, record::RunRecord& record,
                             Timeout timeout) {
  Json request{{"do", "compare"}, {"id", id}, {"scalars", *found.scalars}, {"layouts", *found.layouts}};
  PASSNET_TRY(const Reply reply, ask_about(reference, found, std::move(request), timeout));
  return read_fields("compare", [&]() -> Result<void> {
    Result<std::vector<record::OutputCheck>> checks = record::output_checks_from_json(reply.json->at("outputs"));
    if (!checks) return nonsense("compare", checks.error().message);
    record.outputs = std::move(*checks);
    record.inputs.clear();
    for (const auto& [name, told] : reply.json->at("inputs").items()) {
      Result<std::vector<record::OutputCheck>> check = record::output_checks_from_json(Json::array({told}));
      if (!check) return nonsense("compare", check.error().message);
      record.inputs.push_back({name, std::move(check->front())});
    }
    record.outputs_counted = true;
    record.expected_outputs = record.found_outputs = 0;
    for (const record::OutputCheck& check : record.outputs) {
      record.expected_outputs += check.expected_dtype.empty() ? 0 : 1;
      record.found_outputs += check.found_dtype.empty() ? 0 : 1;
    }
    return {};
  });
}

Result<Judged> judge_outputs(Worker& reference, const std::string& id, const std::string& float64, const Outputs& found,
                             const std::string& input_kind, Timeout timeout) {
  Json request{{"do", "judge"},
               {"id", id},
               {"float64", float64},
               {"scalars", *found.scalars},
               {"rows_seed", found.rows_seed},
               {"profile", input_kind}};
  PASSNET_TRY(const Reply reply, ask_about(reference, found, std::move(request), timeout));
  return read_fields("judge", [&]() -> Result<Judged> {
    Judged judged;
    for (const Json& one : reply.json->at("outputs")) {
      Judged::Output& output = judged.outputs.emplace_back();
      output.name = one.at("name").get<std::string>();
      output.differs = one.at("differs").get<bool>();
      if (!one.contains("budget")) continue;
      Result<record::ErrorBudget> budget = record::budget_from_json(one.at("budget"));
      if (!budget) return nonsense("judge", budget.error().message);
      output.budget = std::move(*budget);
    }
    judged.null_models = reply.json->at("null_models").get<std::vector<std::string>>();
    judged.no_float64 = reply.json->at("no_float64").get<std::string>();
    return judged;
  });
}

Result<bool> depends_on(Worker& reference, const std::string& id, const std::string& input, Timeout timeout) {
  PASSNET_TRY(const Reply reply, reference.ask({{"do", "depends_on"}, {"id", id}, {"input", input}}, {}, timeout));
  return read_fields("depends_on", [&]() -> Result<bool> { return reply.json->at("depends").get<bool>(); });
}

Result<CallSets> make_call_sets(Worker& reference, const std::string& id, int64_t wanted, Timeout timeout, bool whole) {
  Json request{{"do", "make_call_sets"}, {"id", id}, {"sets", wanted}};
  if (whole) request["whole"] = true;
  PASSNET_TRY(Reply reply, reference.ask(request, {}, timeout));
  return read_fields("make_call_sets", [&]() -> Result<CallSets> {
    if (reply.fds.empty()) return nonsense("make_call_sets", "no memory came with it");
    return CallSets{reply.json->at("tensors"), reply.json->at("stride").get<int64_t>(),
                    reply.json->at("sets").get<int64_t>(), std::move(reply.fds[0])};
  });
}

Result<void> renew_call_sets(Worker& reference, const std::string& id, uint64_t seed, int64_t calls, Timeout timeout,
                             bool draw) {
  Json request{{"do", "renew_call_sets"}, {"id", id}, {"seed", seed}, {"calls", calls}};
  if (!draw) request["draw"] = false;
  PASSNET_TRY_VOID(reference.ask(request, {}, timeout));
  return {};
}

Result<void> set_call_sets(Worker& worker, const std::string& id, const CallSets& sets, Timeout timeout) {
  const Json request{
      {"do", "set_call_sets"}, {"id", id}, {"tensors", *sets.tensors}, {"stride", sets.stride}, {"sets", sets.sets}};
  PASSNET_TRY_VOID(worker.ask(request, {sets.fd.get()}, timeout));
  return {};
}

namespace {
/// The rung that a timed call must pass. A hundred calls on as many inputs see the tail of honest rounding, which the one
/// checked call does not; what is computed differently when timed, or with half the digits, is far beyond.
constexpr int kTimedT = record::kCorrectT + record::kNearRungs;

Result<void> keep_worse(const Json& told, std::optional<record::OutputCheck>& known) {
  Result<std::vector<record::OutputCheck>> check = record::output_checks_from_json(Json::array({told}));
  if (!check) return nonsense("compare_calls", check.error().message);
  if (!known || check->front().passes_from > known->passes_from) known = std::move(check->front());
  return {};
}
}  // namespace

Result<void> compare_calls(Worker& reference, const std::string& id, const Outputs& found, CallChecks& checks,
                           Timeout timeout) {
  Json known = Json::array();
  for (const auto& check : checks.outputs) known.push_back(check ? std::max(check->passes_from, kTimedT) : kTimedT);
  const Json request{{"do", "compare_calls"},
                     {"id", id},
                     {"tensors", wire::to_json(found.tensors.entries)},
                     {"scalars", *found.scalars},
                     {"rows_seed", found.rows_seed},
                     {"known", std::move(known)},
                     {"allowed", kTimedT}};
  PASSNET_TRY(const Reply reply, reference.ask(request, {found.tensors.fd.get()}, timeout));
  return read_fields("compare_calls", [&]() -> Result<void> {
    checks.compared += reply.json->at("compared").get<int64_t>();
    const Json& outputs = reply.json->at("outputs");
    checks.outputs.resize(std::max(checks.outputs.size(), outputs.size()));
    for (size_t i = 0; i < outputs.size(); ++i) {
      if (!outputs[i].is_null()) PASSNET_TRY_VOID(keep_worse(outputs[i], checks.outputs[i]));
    }
    for (const auto& [name, told] : reply.json->at("inputs").items()) {
      PASSNET_TRY_VOID(keep_worse(told, checks.inputs[name]));
    }
    return {};
  });
}

Result<std::vector<std::vector<double>>> time_launches(Worker& worker, const std::string& id,
                                                       const std::vector<pass::LaunchList>& lists, int calls,
                                                       Timeout timeout) {
  PASSNET_TRY(const Reply reply, worker.ask({{"do", "profile"}, {"id", id}, {"calls", calls}}, {}, timeout));
  std::vector<std::vector<double>> us;
  for (const pass::LaunchList& list : lists)
    us.emplace_back(list.launches.size(), std::numeric_limits<double>::infinity());
  return read_fields("profile", [&]() -> Result<std::vector<std::vector<double>>> {
    for (const Json& one : reply.json->at("profile").at("launches")) {
      const auto list = one.at("list").get<size_t>(), launch = one.at("launch").get<size_t>();
      if (list >= us.size() || launch >= us[list].size())
        return nonsense("profile", fmt::format("launch {} of list {}", launch, list));
      us[list][launch] = one.at("us").get<double>();
    }
    return std::move(us);
  });
}

Result<record::Profile> profile_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                                      const std::vector<pass::LaunchList>& lists, int calls, Timeout timeout) {
  PASSNET_TRY(const Reply reply, worker.ask({{"do", "profile"}, {"id", id}, {"calls", calls}}, {}, timeout));
  std::unordered_map<std::string_view, ir::NodeId> by_name;
  for (ir::NodeId node = 0; node < graph.size(); ++node) by_name.emplace(graph.node(node).name, node);
  return read_fields("profile", [&]() -> Result<record::Profile> {
    const Json& json = reply.json->at("profile");
    record::Profile profile;
    profile.call_us = json.at("call_us").get<double>();
    for (const Json& one : json.at("launches")) {
      const auto list = one.at("list").get<size_t>(), launch = one.at("launch").get<size_t>();
      if (list >= lists.size() || launch >= lists[list].launches.size())
        return nonsense("profile", fmt::format("launch {} of list {}", launch, list));
      const pass::Launch& launched = lists[list].launches[launch];
      profile.launches.push_back({lists[list].pass, launched.kernel, static_cast<int>(launched.at.line),
                                  static_cast<int>(list), one.at("us").get<double>(), one.at("bytes").get<int64_t>(),
                                  one.at("bound_us").get<double>()});
    }
    for (const Json& one : json.at("others")) {
      const auto node = by_name.find(one.at("node").get_ref<const std::string&>());
      if (node == by_name.end()) return nonsense("profile", "an operator that the graph does not have");
      profile.others.push_back({fx::print_node(graph, graph.node(node->second)), one.at("us").get<double>()});
    }
    std::sort(profile.others.begin(), profile.others.end(), [](const auto& a, const auto& b) { return a.us > b.us; });
    return profile;
  });
}

record::DeviceMemory forget_graph(Worker& worker, const std::string& id, Timeout timeout) {
  if (!worker.alive()) return {};
  const Result<Reply> reply = worker.ask({{"do", "unload"}, {"id", id}}, {}, timeout);
  if (!reply) return {};
  const Result<record::DeviceMemory> memory = read_fields("unload", [&]() -> Result<record::DeviceMemory> {
    const auto used = reply->json->find("device_memory");
    if (used == reply->json->end()) return record::DeviceMemory{};
    return record::DeviceMemory{used->at("peak_bytes").get<int64_t>(), used->at("kept_bytes").get<int64_t>()};
  });
  return memory ? *memory : record::DeviceMemory{};
}

}  // namespace passnet::run
