#include "requests.h"

#include <fmt/format.h>
#include <sys/stat.h>

#include <algorithm>
#include <limits>

#include "base/check.h"
#include "base/file.h"
#include "base/json_object.h"
#include "base/strings.h"
#include "graphdir/meta_json.h"
#include "ir/value.h"
#include "runtime/cpu/cell/operator_threads.h"
#include "runtime/device/device_error.h"
#include "runtime/lower/targets.h"
#include "runtime/session/calibrate.h"
#include "runtime/session/process.h"
#include "runtime/session/replay.h"
#include "sandbox/isolation.h"

namespace passnet::worker {

namespace {

/// "Intel(R) Xeon(R) Processor x 2 threads", on a GPU its name.
std::string hardware() {
  if (const std::string device = runtime::device_name(); !device.empty()) return device;
  const std::string info = read_file("/proc/cpuinfo", FileKind::System).value_or("");
  for (const std::string_view line : split(info, '\n')) {
    const size_t colon = line.find(": ");
    if (line.starts_with("model name") && colon != std::string_view::npos)
      return fmt::format("{} x {} threads", line.substr(colon + 2), runtime::thread_count());
  }
  return fmt::format("unknown processor x {} threads", runtime::thread_count());
}

/// A field of the request. Throws nlohmann's exceptions, which `answer` turns into a reply.
std::string text_field(const Json& request, const char* name) { return request.at(name).get<std::string>(); }

Result<runtime::Recording> read_recording(const std::string& text) {
  if (text == "off") return runtime::Recording::Off;
  if (text == "auto") return runtime::Recording::Auto;
  if (text == "on") return runtime::Recording::On;
  return bad_input(fmt::format("cuda_graph {}: expected auto, on or off", quoted(text)));
}

Result<runtime::Share> read_share(const std::string& text) {
  if (text == "all") return runtime::Share::All;
  if (text == "some") return runtime::Share::Some;
  if (text == "none") return runtime::Share::None;
  return bad_input(fmt::format("share {}: expected all, some or none", quoted(text)));
}

struct Bundle {
  std::vector<wire::Entry> entries;
  wire::Mapping memory;
  UniqueFd fd;
};

/// Bytes of shared memory. Errors: BadInput: `fd` is none.
Result<int64_t> memory_bytes(const UniqueFd& fd) {
  struct stat info {};
  if (::fstat(fd.get(), &info) != 0) return bad_input("the descriptor that came with the request is not shared memory");
  return info.st_size;
}

Result<void> require_descriptors(const std::vector<UniqueFd>& fds, size_t expected) {
  if (fds.size() == expected) return {};
  return bad_input(fmt::format("{} descriptors came with the request, expected {}", fds.size(), expected));
}

Result<Bundle> receive_bundle(const Json& request, std::vector<UniqueFd>& fds) {
  PASSNET_TRY_VOID(require_descriptors(fds, 1));
  Bundle bundle;
  PASSNET_TRY(const int64_t size, memory_bytes(fds[0]));
  PASSNET_TRY(bundle.entries, wire::entries_from_json(request.at("tensors"), size));
  PASSNET_TRY(bundle.memory, wire::Mapping::map(fds[0].get(), size, false));
  bundle.fd = std::move(fds[0]);
  return bundle;
}

/// What another worker's calls gave.
Result<runtime::SharedTensors> receive_tensors(const Json& request, std::vector<UniqueFd>& fds) {
  const bool in_room = request.value("in_room", false);
  PASSNET_TRY_VOID(require_descriptors(fds, in_room ? 0 : 1));
  runtime::SharedTensors tensors;
  int64_t size = std::numeric_limits<int64_t>::max();  // of a room that the graph knows
  if (!in_room) {
    PASSNET_TRY(size, memory_bytes(fds[0]));
    tensors.memory = std::move(fds[0]);
  }
  PASSNET_TRY(tensors.entries, wire::entries_from_json(request.at("tensors"), size));
  return tensors;
}

/// What is sent away, kept here too.
Result<Bundle> kept_bundle(const runtime::SharedTensors& shared) {
  Bundle bundle;
  bundle.entries = shared.entries;
  PASSNET_TRY(bundle.fd, duplicate(shared.memory.get(), "the inputs"));
  PASSNET_TRY(const int64_t size, memory_bytes(bundle.fd));
  PASSNET_TRY(bundle.memory, wire::Mapping::map(bundle.fd.get(), size, false));
  return bundle;
}

Result<runtime::PackageFile> read_package(const Json& json) {
  runtime::PackageFile package{text_field(json, "path"), {}, json.at("outputs").get<size_t>()};
  for (const Json& one : json.at("inputs")) {
    PASSNET_TRY(const ir::Value value, ir::value_from_json(one));
    if (value.tensor() == nullptr) return bad_input("an input of a package is no tensor");
    package.inputs.push_back(*value.tensor());
  }
  return package;
}

Result<graphdir::Metas> read_metas(const Json& request) {
  graphdir::Metas metas;
  PASSNET_TRY(metas.weights, graphdir::records_from_json(request.at("weight_meta")));
  PASSNET_TRY(metas.inputs, graphdir::records_from_json(request.at("input_meta")));
  return metas;
}

Json error_reply(const std::string& kind, const std::string& message, const std::optional<SourceLoc>& at,
                 const std::string& hint) {
  Json reply{{"ok", false}, {"kind", kind}, {"error", message}};
  if (at && !at->file.empty()) reply["at"] = to_json_object(*at);
  if (!hint.empty()) reply["hint"] = hint;
  return reply;
}

Json times_fields(const runtime::CallTimes& times) {
  Json fields{{"times_us", times.times_us}, {"mode", times.mode}};
  if (!times.why_not_recorded.empty()) fields["why_not_recorded"] = times.why_not_recorded;
  if (times.condition.sm_mhz) fields["sm_mhz"] = *times.condition.sm_mhz;
  if (times.condition.temperature_c) fields["temperature_c"] = *times.condition.temperature_c;
  return fields;
}

Reply checks_reply(const runtime::CallChecks& checks) {
  Reply reply;
  *reply.fields = {{"compared", checks.compared}, {"outputs", Json::array()}, {"inputs", Json::object()}};
  for (const auto& check : checks.outputs)
    (*reply.fields)["outputs"].push_back(check ? Json(record::to_json(*check)) : Json());
  for (size_t i = 0; i < checks.inputs.size(); ++i) {
    if (checks.inputs[i]) (*reply.fields)["inputs"][checks.input_names[i]] = record::to_json(*checks.inputs[i]);
  }
  return reply;
}

/// How often a graph is to be called.
Result<int64_t> calls_field(const Json& request) {
  const auto calls = request.at("calls").get<int64_t>();
  if (calls < 0 || calls > 1'000'000) return bad_input(fmt::format("{} calls: expected 0 to 1000000", calls));
  return calls;
}

constexpr const char* kNotTheGraph = "is the GPU well, large enough for this graph, and free of other processes?";
constexpr const char* kOurBug = "this is a bug of PassNet; please report it with the graph";

}  // namespace

Requests::Requests(Role role, Result<void> started, fx::Operators operators)
    : role_(role),
      started_(std::move(started)),
      operators_(operators),
      hardware_(started_ ? hardware() : ""),
      own_namespaces_(sandbox::in_own_namespaces()) {}

const Requests::Row Requests::kRows[] = {
    {"hello", &Requests::hello, false},
    {"calibrate", &Requests::calibrate, true},
    {"load", &Requests::load, false},
    {"check_target", &Requests::check_target, true},
    {"inputs", &Requests::inputs, false},
    {"set_inputs", &Requests::set_inputs, false},
    {"rewind", &Requests::rewind, true},
    {"trace", &Requests::trace, true},
    {"infer", &Requests::infer, true},
    {"run", &Requests::run, false},
    {"make_room", &Requests::make_room, true},
    {"compare", &Requests::compare, true},
    {"judge", &Requests::judge, true},
    {"depends_on", &Requests::depends_on, true},
    {"time", &Requests::time, false, true},
    {"read_clocks", &Requests::read_clocks, false, true},
    {"make_call_sets", &Requests::make_call_sets, true},
    {"renew_call_sets", &Requests::renew_call_sets, true},
    {"set_call_sets", &Requests::set_call_sets, false},
    {"time_on_sets", &Requests::time_on_sets, false, true},
    {"compare_calls", &Requests::compare_calls, true},
    {"profile", &Requests::profile, false},
    {"unload", &Requests::unload, false},
    {"exit", &Requests::exit, false},
};

std::string Requests::answer(wire::Message message, std::vector<UniqueFd>& fds, bool* done) {
  try {
    Result<Reply> reply = dispatch(std::move(message), done);
    if (!reply) {
      const Error& error = reply.error();
      return refuse({to_string(error.kind), error.message, error.at, error.hint}, done);
    }
    fds = std::move(reply->fds);
    Json json{{"ok", true}};
    json.update(*reply->fields);
    return dump(json);
  } catch (const runtime::KernelFault& fault) {
    // A GPU that stops although no kernel of a pass is loaded was stopped by an operator of the graph.
    const bool of_an_operator = fault.ends_worker && !has_kernels();
    return refuse({of_an_operator ? "bad-input" : fault.kind,
                   fault.message,
                   fault.at,
                   {},
                   fault.ends_worker,
                   fault.launch,
                   fault.code},
                  done);
  } catch (const nlohmann::json::exception& problem) {
    return refuse({"bad-input", fmt::format("a request that is not understood: {}", problem.what()), {}, {}}, done);
  } catch (const std::bad_alloc&) {
    return refuse({"resource", "out of memory", {}, "a smaller graph, or a machine with more memory"}, done);
  } catch (const std::exception& problem) {
    return refuse({"internal", problem.what(), {}, kOurBug}, done);
  }
}

bool Requests::has_kernels() const {
  return std::any_of(sessions_.begin(), sessions_.end(), [](const auto& entry) { return entry.second.has_kernels(); });
}

// What comes out of a call to the GPU is told from what is wrong with the graph, and says whether fresh workers may
// help.
std::string Requests::refuse(Refusal refusal, bool* done) const {
  runtime::Blame blame{refusal.kind, false, false};
  if (runtime::on_gpu() || !started_) blame = runtime::blame(refusal.kind, refusal.message);
  if (blame.kind != refusal.kind) {
    refusal.message = first_line(refusal.message);
    refusal.hint = blame.kind == "resource" ? kNotTheGraph : "";
  }
  Json reply = error_reply(blame.kind, refusal.message, refusal.at, refusal.hint);
  if (!refusal.launch.empty()) reply["launch"] = refusal.launch;
  if (refusal.code)
    reply["code"] = {{"list", refusal.code->list}, {"launch", refusal.code->launch}, {"offset", refusal.code->offset}};
  if (blame.retry) reply["retry"] = true;
  if (blame.ends_worker || refusal.ends_worker || runtime::device_has_stopped()) {
    reply["ends_worker"] = true;
    *done = true;
  }
  return dump(reply);
}

Result<Reply> Requests::dispatch(wire::Message message, bool* done) {
  PASSNET_TRY(const Json request, parse_json(message.json, "request"));
  PASSNET_TRY_VOID(started_);
  const std::string name = text_field(request, "do");
  std::vector<std::string_view> names;
  for (const Row& row : kRows) {
    names.push_back(row.name);
    if (name != row.name) continue;
    if (row.reference_only && role_ != Role::Reference)
      return bad_input(fmt::format("only the reference worker answers '{}'", name));
    *done = row.handler == &Requests::exit;
    Result<Reply> reply = (this->*row.handler)(request, message.fds);
    // They would spin on for milliseconds, where the other worker is to compute now. A worker that was timed is stopped
    // as it is, and its next block begins as this one ended.
    if (!row.is_timed) runtime::end_operator_threads();
    return reply;
  }
  const std::string_view near = nearest_name(name, names);
  return bad_input(fmt::format("unknown request {}", passnet::quoted(name)))
      .with_hint(near.empty() ? "" : fmt::format("did you mean '{}'?", near));
}

Result<runtime::Session*> Requests::session(const std::string& id) {
  const auto found = sessions_.find(id);
  if (found == sessions_.end()) return bad_input(fmt::format("no graph is loaded as {}", passnet::quoted(id)));
  return &found->second;
}

Result<Reply> Requests::check_target(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY_VOID(runtime::check_target(request.value("method", false), text_field(request, "target")));
  return Reply{};
}

Result<Reply> Requests::hello(const Json&, std::vector<UniqueFd>&) {
  Reply reply;
  *reply.fields = {{"version", wire::kProtocolVersion},
                   {"torch", runtime::torch_version()},
                   {"threads", runtime::thread_count()},
                   {"hardware", hardware_},
                   {"architecture", runtime::device_architecture()},
                   {"isolation", sandbox::describe_own_isolation(own_namespaces_)}};
  return reply;
}

Result<Reply> Requests::calibrate(const Json&, std::vector<UniqueFd>&) {
  Reply reply;
  (*reply.fields)["copies"] = Json::array();
  for (const record::CopySpeed& copy : runtime::measure_copies())
    (*reply.fields)["copies"].push_back({{"bytes", copy.bytes}, {"gb_per_s", copy.gb_per_s}});
  return reply;
}

Result<Reply> Requests::load(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::LaunchFiles files, runtime::launch_files_from_json(request, "launch_lists"));
  runtime::Session::Source source{text_field(request, "file"), text_field(request, "model"), std::move(files.lists),
                                  std::move(files.kernels)};
  if (role_ != Role::Candidate && !source.kernels.empty()) return bad_input("only the candidate worker loads kernels");
  if (const auto package = request.find("package"); package != request.end()) {
    // To unpack one files must be written, which the candidate worker cannot.
    if (role_ != Role::Package) return bad_input("only the package worker loads packages");
    PASSNET_TRY(source.package, read_package(*package));
  }
  PASSNET_TRY(source.recording, read_recording(request.value("cuda_graph", "off")));
  source.operators = operators_;
  source.poisons = request.value("poison", true);
  source.compares_canaries = request.value("canaries", true);
  const std::string id = text_field(request, "id");
  PASSNET_TRY(runtime::Session session, runtime::Session::load(std::move(source)));
  Reply reply;
  (*reply.fields)["operators"] = session.operator_calls();
  (*reply.fields)["calls_at_once"] = session.calls_at_once();
  if (session.kernel_process() >= 0) {
    PASSNET_TRY(UniqueFd process, duplicate(session.kernel_process(), "the kernels' process"));
    reply.fds.push_back(std::move(process));
  }
  sessions_.insert_or_assign(id, std::move(session));
  return reply;
}

Result<Reply> Requests::inputs(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(const graphdir::Metas metas, read_metas(request));
  const auto seed = static_cast<uint32_t>(request.at("seed").get<uint64_t>());
  const std::string input_kind = request.value("profile", record::kRecordedKind);
  // The number of inputs that keep their contents belongs to the name: with another number other values are drawn.
  const auto stays = [](const auto& records) {
    return std::ranges::count(records, graphdir::Redraw::None, &graphdir::TensorMeta::redraw);
  };
  const std::string kept_as = request.value("keep", false) ? fmt::format("{} {} {}", input_kind, seed,
                                                                         stays(metas.inputs) + stays(metas.weights))
                                                           : "";
  const bool share = request.value("share", true);
  PASSNET_TRY(const bool recalled, graph->recall_inputs(kept_as));
  if (!share) {
    if (!recalled) PASSNET_TRY_VOID(graph->draw_inputs(metas, seed, input_kind, kept_as));
    return Reply{};
  }
  runtime::SharedTensors shared;
  if (recalled) {
    PASSNET_TRY(shared, graph->share_inputs());
  } else {
    PASSNET_TRY(shared, runtime::replay_inputs(metas, seed, input_kind));
    PASSNET_TRY(Bundle bundle, kept_bundle(shared));
    const bool replaces = input_kind != record::kRecordedKind && graph->has_inputs();
    PASSNET_TRY_VOID(graph->set_inputs(std::move(bundle.entries), std::move(bundle.memory), std::move(bundle.fd),
                                       runtime::call_seed_of(seed, input_kind), replaces, kept_as));
    graph->set_metas(metas);
  }
  Reply reply;
  (*reply.fields)["call_seed"] = runtime::call_seed_of(seed, input_kind);
  (*reply.fields)["tensors"] = wire::to_json(shared.entries);
  reply.fds.push_back(std::move(shared.memory));
  return reply;
}

Result<Reply> Requests::set_inputs(const Json& request, std::vector<UniqueFd>& fds) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  if (request.contains("of")) {
    PASSNET_TRY(const runtime::Session* const other, session(text_field(request, "of")));
    PASSNET_TRY_VOID(graph->set_inputs_of(*other));
    return Reply{};
  }
  if (request.value("restore", false)) {
    PASSNET_TRY_VOID(graph->restore_inputs());
    return Reply{};
  }
  PASSNET_TRY(Bundle bundle, receive_bundle(request, fds));
  std::optional<uint64_t> call_seed;
  if (const auto seed = request.find("call_seed"); seed != request.end()) call_seed = seed->get<uint64_t>();
  PASSNET_TRY_VOID(graph->set_inputs(std::move(bundle.entries), std::move(bundle.memory), std::move(bundle.fd),
                                     call_seed, request.value("replace", false)));
  return Reply{};
}

Result<Reply> Requests::rewind(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY_VOID(graph->rewind());
  return Reply{};
}

Result<Reply> Requests::trace(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  Reply reply;
  PASSNET_TRY((*reply.fields)["values"], graph->trace(request.value("measured", std::vector<std::string>{})));
  return reply;
}

Result<Reply> Requests::infer(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(const graphdir::Metas metas, read_metas(request));
  Reply reply;
  PASSNET_TRY((*reply.fields)["values"], graph->infer(metas));
  return reply;
}

Result<Reply> Requests::make_room(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(wire::DeviceRoom room, graph->make_room());
  Reply reply;
  (*reply.fields)["room_bytes"] = room.size_bytes;
  if (room.memory) reply.fds.push_back(std::move(room.memory));
  return reply;
}

Result<Reply> Requests::run(const Json& request, std::vector<UniqueFd>& fds) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(const runtime::Share share, read_share(request.value("share", "all")));
  std::optional<wire::DeviceRoom> room;
  if (!fds.empty()) room = wire::DeviceRoom{request.at("room_bytes").get<int64_t>(), std::move(fds[0])};
  PASSNET_TRY(runtime::CallOutputs outputs, graph->run(request.value("checked", false), share,
                                                       request.value("again", true), room ? &*room : nullptr));
  Reply reply;
  std::vector<wire::Entry>& all = outputs.tensors.entries;
  const auto first_input =
      std::ranges::stable_partition(all, [](const wire::Entry& entry) { return !runtime::changed_input(entry.name); });
  (*reply.fields)["outputs"] = wire::to_json(std::span(all.begin(), first_input.begin()));
  (*reply.fields)["inputs"] = wire::to_json(first_input);
  (*reply.fields)["scalars"] = std::move(*outputs.scalars);
  (*reply.fields)["layouts"] = record::to_json(outputs.layouts);
  (*reply.fields)["peak_bytes"] = outputs.peak_bytes;
  if (share == runtime::Share::None) return reply;
  (*reply.fields)["rows_seed"] = outputs.rows_seed;
  if (outputs.tensors.memory)
    reply.fds.push_back(std::move(outputs.tensors.memory));
  else
    (*reply.fields)["in_room"] = true;
  return reply;
}

Result<Reply> Requests::compare(const Json& request, std::vector<UniqueFd>& fds) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(const runtime::SharedTensors found, receive_tensors(request, fds));
  PASSNET_TRY(const auto layouts, record::layouts_from_json(request.value("layouts", Json::array())));
  PASSNET_TRY(const runtime::CallChecks checks,
              graph->compare(found, request.value("scalars", Json::object()), layouts));
  return checks_reply(checks);
}

Result<Reply> Requests::judge(const Json& request, std::vector<UniqueFd>& fds) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  runtime::Session* float64 = nullptr;
  if (const std::string id = request.value("float64", ""); !id.empty()) {
    PASSNET_TRY(float64, session(id));
  }
  PASSNET_TRY(const runtime::SharedTensors found, receive_tensors(request, fds));
  PASSNET_TRY(const runtime::Judgement told,
              graph->judge(found, request.value("scalars", Json::object()), request.value("rows_seed", uint64_t{0}),
                           float64, text_field(request, "profile")));
  Reply reply;
  *reply.fields = {{"outputs", Json::array()}, {"null_models", told.null_models}, {"no_float64", told.no_float64}};
  for (const runtime::JudgedOutput& output : told.outputs) {
    Json one{{"name", output.name}, {"differs", output.differs}};
    if (output.budget) one["budget"] = record::to_json(*output.budget);
    (*reply.fields)["outputs"].push_back(std::move(one));
  }
  return reply;
}

Result<Reply> Requests::depends_on(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  Reply reply;
  PASSNET_TRY((*reply.fields)["depends"], graph->depends_on(text_field(request, "input")));
  return reply;
}

Result<Reply> Requests::time(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(const int64_t calls, calls_field(request));
  const std::string clock = request.value("clock", "host");
  if (clock != "host" && clock != "device")
    return bad_input(fmt::format("clock {}: expected host or device", quoted(clock)));
  const auto together = request.value("together", int64_t{1});
  if (together < 1) return bad_input(fmt::format("{} calls together: expected at least 1", together));
  PASSNET_TRY(const runtime::CallTimes times,
              graph->time({calls, request.value("settle", false), request.value("fingerprint", false),
                           request.value("fresh", false), request.value("flush", false), clock == "device", together}));
  Reply reply;
  *reply.fields = times_fields(times);
  (*reply.fields)["changed"] = times.changed;
  return reply;
}

Result<Reply> Requests::read_clocks(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(const int64_t calls, calls_field(request));
  PASSNET_TRY(const runtime::ClockReadings readings, graph->read_clocks(calls));
  Reply reply;
  (*reply.fields)["calls_us"] = readings.calls_us;
  if (readings.device_us) (*reply.fields)["device_us"] = *readings.device_us;
  return reply;
}

Result<Reply> Requests::make_call_sets(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(runtime::SharedSets sets,
              graph->make_call_sets(request.at("sets").get<int64_t>(), request.value("whole", false)));
  Reply reply;
  *reply.fields = {{"tensors", wire::to_json(sets.tensors.entries)}, {"stride", sets.stride}, {"sets", sets.sets}};
  reply.fds.push_back(std::move(sets.tensors.memory));
  return reply;
}

Result<Reply> Requests::renew_call_sets(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY_VOID(graph->renew_call_sets(request.at("seed").get<uint64_t>(), request.at("calls").get<int64_t>(),
                                          request.value("draw", true)));
  return Reply{};
}

Result<Reply> Requests::set_call_sets(const Json& request, std::vector<UniqueFd>& fds) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(Bundle bundle, receive_bundle(request, fds));
  runtime::SharedSets sets{
      {std::move(bundle.entries), {}}, request.at("stride").get<int64_t>(), request.at("sets").get<int64_t>()};
  if (sets.stride < 1 || sets.sets < 1 || sets.sets > bundle.memory.size_bytes() / sets.stride)
    return bad_input(
        fmt::format("{} sets of {} bytes: the memory has {}", sets.sets, sets.stride, bundle.memory.size_bytes()));
  graph->set_call_sets(std::move(sets), std::move(bundle.memory));
  return Reply{};
}

Result<Reply> Requests::time_on_sets(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  const runtime::FreshOptions options{
      request.at("calls").get<int64_t>(),    request.value("together", int64_t{1}),
      request.value("settling", int64_t{0}), request.value("seed", uint64_t{0}),
      request.value("draw", true),           request.value("planted", std::vector<std::string>{})};
  Reply reply;
  if (request.value("expected", false)) {
    PASSNET_TRY(const runtime::CallTimes times, graph->time_expected(options));
    *reply.fields = times_fields(times);
    return reply;
  }
  PASSNET_TRY(runtime::FreshCallTimes timed, graph->time_on_sets(options));
  *reply.fields = times_fields(timed.times);
  (*reply.fields)["outputs"] = wire::to_json(timed.outputs.tensors.entries);
  (*reply.fields)["scalars"] = std::move(*timed.outputs.scalars);
  (*reply.fields)["rows_seed"] = timed.outputs.rows_seed;
  reply.fds.push_back(std::move(timed.outputs.tensors.memory));
  return reply;
}

Result<Reply> Requests::compare_calls(const Json& request, std::vector<UniqueFd>& fds) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  PASSNET_TRY(const runtime::SharedTensors found, receive_tensors(request, fds));
  std::optional<int> allowed;
  if (request.contains("allowed")) allowed = request.at("allowed").get<int>();
  PASSNET_TRY(
      const runtime::CallChecks checks,
      graph->compare_calls(found, request.value("scalars", Json::object()), request.value("rows_seed", uint64_t{0}),
                           request.value("known", std::vector<int>{}), allowed));
  return checks_reply(checks);
}

Result<Reply> Requests::profile(const Json& request, std::vector<UniqueFd>&) {
  PASSNET_TRY(runtime::Session* const graph, session(text_field(request, "id")));
  const auto calls = request.at("calls").get<int64_t>();
  if (calls < 1 || calls > 10'000) return bad_input(fmt::format("{} calls: expected 1 to 10000", calls));
  Reply reply;
  PASSNET_TRY((*reply.fields)["profile"], graph->profile(static_cast<int>(calls)));
  return reply;
}

Result<Reply> Requests::unload(const Json& request, std::vector<UniqueFd>&) {
  sessions_.erase(text_field(request, "id"));
  Reply reply;
  if (const std::optional<runtime::DeviceMemory> memory = runtime::trim_memory())
    (*reply.fields)["device_memory"] = {{"peak_bytes", memory->peak_bytes}, {"kept_bytes", memory->kept_bytes}};
  return reply;
}

Result<Reply> Requests::exit(const Json&, std::vector<UniqueFd>&) { return Reply{}; }

}  // namespace passnet::worker
