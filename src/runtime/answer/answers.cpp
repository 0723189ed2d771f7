#include "runtime/answer/answers.h"

#include <c10/core/InferenceMode.h>
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "graphdir/inputs/meta_json.h"
#include "ir/value.h"
#include "runtime/answer/received.h"
#include "runtime/device/launch_files.h"
#include "runtime/lower/targets.h"
#include "runtime/session/calibrate.h"
#include "runtime/session/calls.h"
#include "runtime/session/inputs/input_set.h"
#include "runtime/session/kind_inputs.h"
#include "runtime/session/loaded_graph.h"
#include "runtime/session/process.h"
#include "runtime/session/replay.h"
#include "sandbox/isolation.h"

namespace passnet::runtime {

namespace {

/// "Intel(R) Xeon(R) Processor x 2 threads", on a GPU its name.
std::string hardware() {
  if (const std::string device = device_name(); !device.empty()) return device;
  const std::string info = read_file("/proc/cpuinfo", FileKind::System).value_or("");
  for (const std::string_view line : split(info, '\n')) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string_view::npos)
      return fmt::format("{} x {} threads", line.substr(colon + 2), thread_count());
  }
  return fmt::format("unknown processor x {} threads", thread_count());
}

Result<Recording> read_recording(const std::string& text) {
  if (text == "off") return Recording::Off;
  if (text == "auto") return Recording::Auto;
  if (text == "on") return Recording::On;
  return bad_input(fmt::format("cuda_graph {}: expected auto, on or off", quoted(text)));
}

Result<PackageFile> read_package(const protocol::Load::Package& told) {
  PackageFile package{told.path, {}, static_cast<size_t>(told.outputs)};
  for (const Json& one : *told.inputs) {
    PASSNET_TRY(const ir::Value value, ir::value_from_json(one));
    if (value.tensor() == nullptr) return bad_input("an input of a package is no tensor");
    package.inputs.push_back(*value.tensor());
  }
  return package;
}

Result<graphdir::Metas> read_metas(const IndirectJson& weights, const IndirectJson& inputs) {
  graphdir::Metas metas;
  PASSNET_TRY(metas.weights, graphdir::records_from_json(*weights));
  PASSNET_TRY(metas.inputs, graphdir::records_from_json(*inputs));
  return metas;
}

/// The name that inputs are kept by. The number of inputs that keep their contents belongs to it: with another number other
/// values are drawn.
std::string kept_name(const protocol::Inputs& request, uint32_t seed, const graphdir::Metas& metas) {
  const auto stays = [](const auto& records) {
    return std::ranges::count(records, graphdir::Redraw::None, &graphdir::TensorMeta::redraw);
  };
  return fmt::format("{} {} {}", request.profile, seed, stays(metas.inputs) + stays(metas.weights));
}

}  // namespace

Answers::Answers(Role role, fx::Operators operators)
    : role_(role),
      operators_(operators),
      hardware_(hardware()),
      own_namespaces_(sandbox::in_own_namespaces()),
      inference_(std::make_unique<c10::InferenceMode>()) {}
Answers::~Answers() = default;

bool Answers::has_kernels() const {
  return std::ranges::any_of(graphs_, [](const auto& entry) {
    LoadedGraph& graph = *entry.second;
    return graph.fused().size() > 0 && graph.can_launch();
  });
}

Result<LoadedGraph*> Answers::find_graph(const std::string& id) const {
  const auto found = graphs_.find(id);
  if (found == graphs_.end()) return bad_input(fmt::format("no graph is loaded as {}", passnet::quoted(id)));
  return found->second.get();
}

Answered<protocol::Hello> Answers::answer(const protocol::Hello&, Fds&) {
  return protocol::Answer<protocol::Hello>{{torch_version(),
                                            thread_count(),
                                            hardware_,
                                            device_architecture(),
                                            sandbox::describe_own_isolation(own_namespaces_),
                                            {}}};
}

Answered<protocol::Calibrate> Answers::answer(const protocol::Calibrate&, Fds&) {
  return protocol::Answer<protocol::Calibrate>{{measure_copies(), measure_products()}};
}

Answered<protocol::CheckTarget> Answers::answer(const protocol::CheckTarget& request, Fds&) {
  PASSNET_TRY_VOID(check_target(request.method, request.target));
  return protocol::Answer<protocol::CheckTarget>{};
}

Answered<protocol::Load> Answers::answer(const protocol::Load& request, Fds&) {
  PASSNET_TRY(LaunchFiles files, launch_files_from_json(*request.launch_lists, *request.kernels));
  LoadedGraph::Source source{request.file, request.model, std::move(files.lists), std::move(files.kernels)};
  if (role_ != Role::Candidate && !source.kernels.empty()) return bad_input("only the candidate worker loads kernels");
  if (request.package) {
    // To unpack one files must be written, which the candidate worker cannot.
    if (role_ != Role::Package) return bad_input("only the package worker loads packages");
    PASSNET_TRY(source.package, read_package(*request.package));
  }
  PASSNET_TRY(source.recording, read_recording(request.cuda_graph));
  source.operators = operators_;
  source.poisons = request.poison;
  source.compares_canaries = request.canaries;
  PASSNET_TRY(std::unique_ptr<LoadedGraph> graph, LoadedGraph::load(std::move(source), device()));
  protocol::Answer<protocol::Load> answer;
  answer.reply.operators = static_cast<int64_t>(graph->plan().operator_calls());
  const KernelHost* const host = graph->fused().host();
  if (graph->hands_over()) answer.reply.calls_at_once = static_cast<int64_t>(host->calls_at_a_time());
  if (host != nullptr && host->process() >= 0) {
    PASSNET_TRY(answer.fds.emplace_back(), duplicate(host->process(), "the kernels' process"));
  }
  graphs_.insert_or_assign(request.id, std::move(graph));
  return answer;
}

Answered<protocol::Inputs> Answers::answer(const protocol::Inputs& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(const graphdir::Metas metas, read_metas(request.weight_meta, request.input_meta));
  const auto seed = static_cast<uint32_t>(request.seed);
  const std::string kept_as = request.keep ? kept_name(request, seed, metas) : "";
  PASSNET_TRY(const bool recalled, graph->recall_inputs(kept_as));
  protocol::Answer<protocol::Inputs> answer;
  if (!request.share) {
    if (recalled) return answer;
    PASSNET_TRY(std::shared_ptr<const InputSet> drawn, draw_inputs_of_kind(metas, seed, request.profile));
    PASSNET_TRY_VOID(graph->replace_inputs(std::move(drawn), kept_as));
    return answer;
  }
  const uint64_t call_seed = call_seed_of(seed, request.profile);
  if (!recalled) {
    PASSNET_TRY(SharedTensors drawn, replay_inputs(metas, seed, request.profile));
    PASSNET_TRY(std::shared_ptr<const InputSet> set, adopt_input_set(std::move(drawn), call_seed));
    const bool replaces = request.profile != record::kRecordedKind && graph->input_set() != nullptr;
    PASSNET_TRY_VOID(replaces ? graph->replace_inputs(std::move(set), kept_as)
                              : graph->set_inputs(std::move(set), kept_as));
    graph->metas = metas;
  }
  const InputSet& set = *graph->input_set();
  answer.reply = {IndirectJson(wire::to_json(set.entries)), call_seed};
  PASSNET_TRY(answer.fds.emplace_back(), duplicate(set.fd.get(), "the inputs"));
  return answer;
}

Answered<protocol::SetInputs> Answers::answer(const protocol::SetInputs& request, Fds& fds) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  protocol::Answer<protocol::SetInputs> done;
  if (!request.of.empty()) {
    PASSNET_TRY(const LoadedGraph* const other, find_graph(request.of));
    PASSNET_TRY_VOID(other->require_inputs());
    PASSNET_TRY_VOID(graph->set_inputs(other->input_set()));
    return done;
  }
  if (request.restore) {
    PASSNET_TRY_VOID(graph->restore_inputs());
    return done;
  }
  PASSNET_TRY(ReceivedBundle bundle, receive_bundle(request.tensors ? **request.tensors : Json(), fds));
  std::shared_ptr<const InputSet> set = make_input_set(std::move(bundle.entries), std::move(bundle.memory),
                                                       std::move(bundle.fd), request.call_seed.value_or(kCallSeed));
  PASSNET_TRY_VOID(request.replace ? graph->replace_inputs(std::move(set)) : graph->set_inputs(std::move(set)));
  return done;
}

Answered<protocol::Rewind> Answers::answer(const protocol::Rewind& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY_VOID(graph->rewind());
  return protocol::Answer<protocol::Rewind>{};
}

Answered<protocol::Trace> Answers::answer(const protocol::Trace& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(Json values, trace(*graph, request.measured));
  return protocol::Answer<protocol::Trace>{{std::move(values)}};
}

Answered<protocol::Infer> Answers::answer(const protocol::Infer& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(const graphdir::Metas metas, read_metas(request.weight_meta, request.input_meta));
  PASSNET_TRY(Json values, infer(*graph, metas));
  return protocol::Answer<protocol::Infer>{{std::move(values)}};
}

Answered<protocol::Unload> Answers::answer(const protocol::Unload& request, Fds&) {
  graphs_.erase(request.id);
  return protocol::Answer<protocol::Unload>{{trim_memory()}};
}

Answered<protocol::Exit> Answers::answer(const protocol::Exit&, Fds&) { return protocol::Answer<protocol::Exit>{}; }

}  // namespace passnet::runtime
