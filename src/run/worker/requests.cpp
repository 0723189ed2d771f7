#include "run/worker/requests.h"

#include <fmt/format.h>

#include <algorithm>
#include <unordered_map>

#include "base/file.h"
#include "fx/print.h"

namespace passnet::run {

namespace {

using Timeout = std::chrono::milliseconds;

pass::SiteInput value_from_json(const Json& json) {
  if (json.contains("dtype")) {
    ir::TensorType type;
    type.dtype = ir::parse_dtype(json.at("dtype").get<std::string>()).value_or(ir::DType::Float32);
    type.shape = json.at("shape").get<std::vector<int64_t>>();
    type.strides = json.at("strides").get<std::vector<int64_t>>();
    return type;
  }
  if (json.contains("int")) return json.at("int").get<int64_t>();
  if (json.contains("float")) return json.at("float").get<double>();
  if (json.contains("bool")) return json.at("bool").get<bool>();
  return std::monostate{};
}

/// The text of a file that may be absent.
Answer<std::string> optional_text(const std::filesystem::path& path) {
  if (!std::filesystem::exists(path)) return std::string();
  Result<std::string> text = read_file(path);
  if (!text) return tl::unexpected(to_failure(text.error()));
  return std::move(*text);
}

}  // namespace

tl::unexpected<Failure> nonsense(const std::string& what, const std::string& why) {
  return tl::unexpected(Failure{
      "nonsense", resource_error(fmt::format("the worker's answer to '{}' is not understood: {}", what, why)), false});
}

Answer<MetaTexts> read_metas(const graphdir::GraphDir& graph) {
  Answer<std::string> weights = optional_text(graph.path / "weight_meta.py");
  if (!weights) return tl::unexpected(std::move(weights).error());
  Answer<std::string> inputs = optional_text(graph.path / "input_meta.py");
  if (!inputs) return tl::unexpected(std::move(inputs).error());
  return MetaTexts{std::move(*weights), std::move(*inputs)};
}

Answer<Hello> greet(Worker& worker, Timeout timeout) {
  Answer<Reply> reply = worker.ask({{"do", "hello"}}, {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  return read_fields("hello", [&]() -> Answer<Hello> {
    return Hello{reply->json.value("torch", ""), reply->json.value("hardware", ""), reply->json.value("isolation", ""),
                 reply->json.value("architecture", ""), reply->json.at("threads").get<int>()};
  });
}

Answer<Hello> start_up(Worker& worker) {
  // Starting libtorch takes half a second on a quiet machine; a busy one gets a minute.
  Answer<Hello> hello = greet(worker, std::chrono::seconds(60));
  if (!hello && hello.error().worker_lost && hello.error().kind != "interrupted") {
    Failure failure = std::move(hello).error();
    failure.kind = "resource";
    return tl::unexpected(std::move(failure));
  }
  return hello;
}

Answer<void> load_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                        const std::vector<pass::LaunchList>& lists,
                        const std::vector<std::vector<pass::BuiltKernel>>& kernels, Timeout timeout,
                        const std::string& cuda_graph) {
  // The text as it was read, when there is one, so that the worker's messages point into the user's file.
  const bool rewritten = !lists.empty();
  Json request{{"do", "load"},
               {"id", id},
               {"file", graph.file},
               {"model", graph.source && !rewritten ? *graph.source : fx::print_model(graph)},
               {"launch_lists", Json::array()},
               {"kernels", Json::array()},
               {"cuda_graph", cuda_graph}};
  for (const pass::LaunchList& list : lists) request["launch_lists"].push_back(pass::to_json(list));
  for (const auto& of_list : kernels) {
    Json row = Json::array();
    for (const pass::BuiltKernel& kernel : of_list)
      row.push_back({{"object", kernel.object.string()}, {"entry", kernel.entry}, {"parameters", kernel.parameters}});
    request["kernels"].push_back(std::move(row));
  }
  Answer<Reply> reply = worker.ask(request, {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  return {};
}

Answer<Bundle> replay_inputs(Worker& worker, const std::string& id, const graphdir::GraphDir& graph, uint64_t seed,
                             Timeout timeout) {
  Answer<MetaTexts> metas = read_metas(graph);
  if (!metas) return tl::unexpected(std::move(metas).error());
  Answer<Reply> reply = worker.ask(
      {{"do", "inputs"}, {"id", id}, {"weight_meta", metas->weights}, {"input_meta", metas->inputs}, {"seed", seed}},
      {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  return take_bundle(*reply, "tensors");
}

Answer<void> set_inputs(Worker& worker, const std::string& id, const Bundle& inputs, Timeout timeout) {
  Answer<Reply> reply = worker.ask({{"do", "set_inputs"}, {"id", id}, {"tensors", wire::to_json(inputs.entries)}},
                                   {inputs.fd.get()}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  return {};
}

Answer<Json> trace_values(Worker& worker, const std::string& id, const std::vector<std::string>& measured,
                          Timeout timeout) {
  Answer<Reply> reply = worker.ask({{"do", "trace"}, {"id", id}, {"measured", measured}}, {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  return read_fields("trace", [&]() -> Answer<Json> { return std::move(reply->json.at("values")); });
}

Answer<Values> trace_graph(Worker& worker, const std::string& id, const ir::Graph& graph, Timeout timeout) {
  Answer<Json> traced = trace_values(worker, id, {}, timeout);
  if (!traced) return tl::unexpected(std::move(traced).error());
  return read_fields("trace", [&]() -> Answer<Values> {
    const Json& by_name = *traced;
    Values values(graph.size());
    for (ir::NodeId node = 0; node < graph.size(); ++node) {
      const auto found = by_name.find(std::string(graph.node(node).name));
      if (found != by_name.end()) values[node] = value_from_json(*found);
    }
    return values;
  });
}

Answer<Outputs> run_graph(Worker& worker, const std::string& id, bool checked, Timeout timeout) {
  Answer<Reply> reply = worker.ask({{"do", "run"}, {"id", id}, {"checked", checked}}, {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  Answer<Bundle> tensors = take_bundle(*reply, "outputs");
  if (!tensors) return tl::unexpected(std::move(tensors).error());
  return Outputs{std::move(*tensors), reply->json.value("scalars", Json::object())};
}

Answer<void> compare_outputs(Worker& reference, const std::string& id, const Outputs& found, record::RunRecord& record,
                             Timeout timeout) {
  Answer<Reply> reply = reference.ask(
      {{"do", "compare"}, {"id", id}, {"tensors", wire::to_json(found.tensors.entries)}, {"scalars", found.scalars}},
      {found.tensors.fd.get()}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  return read_fields("compare", [&]() -> Answer<void> {
    Result<std::vector<record::OutputCheck>> checks = record::output_checks_from_json(reply->json.at("outputs"));
    if (!checks) return nonsense("compare", checks.error().message);
    record.outputs = std::move(*checks);
    record.outputs_counted = true;
    record.expected_outputs = record.found_outputs = 0;
    for (const record::OutputCheck& check : record.outputs) {
      record.expected_outputs += check.expected_dtype.empty() ? 0 : 1;
      record.found_outputs += check.found_dtype.empty() ? 0 : 1;
    }
    return {};
  });
}

Answer<record::Profile> profile_graph(Worker& worker, const std::string& id, const ir::Graph& graph,
                                      const std::vector<pass::LaunchList>& lists, int calls, Timeout timeout) {
  Answer<Reply> reply = worker.ask({{"do", "profile"}, {"id", id}, {"calls", calls}}, {}, timeout);
  if (!reply) return tl::unexpected(std::move(reply).error());
  std::unordered_map<std::string_view, ir::NodeId> by_name;
  for (ir::NodeId node = 0; node < graph.size(); ++node) by_name.emplace(graph.node(node).name, node);
  return read_fields("profile", [&]() -> Answer<record::Profile> {
    const Json& json = reply->json.at("profile");
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
  const Answer<Reply> reply = worker.ask({{"do", "unload"}, {"id", id}}, {}, timeout);
  if (!reply) return {};
  const Answer<record::DeviceMemory> memory = read_fields("unload", [&]() -> Answer<record::DeviceMemory> {
    const auto used = reply->json.find("device_memory");
    if (used == reply->json.end()) return record::DeviceMemory{};
    return record::DeviceMemory{used->at("peak_bytes").get<int64_t>(), used->at("kept_bytes").get<int64_t>()};
  });
  return memory ? *memory : record::DeviceMemory{};
}

}  // namespace passnet::run
