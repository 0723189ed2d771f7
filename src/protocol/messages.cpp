#include "protocol/messages.h"

#include "base/json/json_object.h"
#include "record/check_json.h"
#include "record/floor_json.h"

namespace passnet {

template <class T>
struct JsonForm<std::optional<T>> {
  static constexpr std::string_view kSeveral = JsonForm<T>::kSeveral;
  static Json write(const std::optional<T>& value) { return value ? JsonForm<T>::write(*value) : Json(); }
  static bool read(const Json& json, std::optional<T>& out) {
    return json.is_null() || JsonForm<T>::read(json, out.emplace());
  }
};

namespace protocol {

template <class Message>
Json to_json(const Message& message) {
  if constexpr (requires { Message::kRequest; }) {
    Json json{{"do", Message::kRequest.name}};
    json.update(to_json_object(message));
    return json;
  } else {
    return to_json_object(message);
  }
}

template <class Message>
Result<Message> from_json(const Json& json) {
  return from_json_object<Message>(json);
}

}  // namespace protocol

// Members that are always written, and may be lacking.
#define OR_DEFAULT(...) PASSNET_FIELDS_MAY_LACK(__VA_ARGS__)
#define MESSAGE(Message, ...)                                \
  __VA_ARGS__                                                \
  template Json protocol::to_json(const protocol::Message&); \
  template Result<protocol::Message> protocol::from_json(const Json&);
#define PART(Message, name, ...) PASSNET_JSON_FIELDS(protocol::Message, name, __VA_ARGS__)
#define REQUEST(Request, ...) MESSAGE(Request, PART(Request, protocol::Request::kRequest.name, __VA_ARGS__))
#define REPLY(Reply, ...) MESSAGE(Reply, PART(Reply, "reply", __VA_ARGS__))
#define WITHOUT_FIELDS(Message, name)                             \
  MESSAGE(                                                        \
      Message, template <> struct JsonFields<protocol::Message> { \
        static constexpr std::string_view kName = name;           \
        static void visit(auto&, auto&) {}                        \
      };)

WITHOUT_FIELDS(Nothing, "reply")
WITHOUT_FIELDS(Hello, "hello")
REPLY(Hello::Reply,
      PASSNET_FIELDS(threads) OR_DEFAULT(torch, hardware, architecture, isolation) PASSNET_FIELDS_IF_SET(compiler))
WITHOUT_FIELDS(Calibrate, "calibrate")
REPLY(Calibrate::Reply, PASSNET_FIELDS(copies, products))
REQUEST(CheckTarget, PASSNET_FIELDS(target) OR_DEFAULT(method))
PART(Load::Package, "package", PASSNET_FIELDS(path, inputs, outputs))
PART(Load::PassOutcome, "pass", PASSNET_FIELDS(pass, matches, diagnosis))
REQUEST(Load, PASSNET_FIELDS(id, file, model) OR_DEFAULT(launch_lists, kernels, cuda_graph, poison, canaries)
                  PASSNET_FIELDS_IF_SET(passes, package))
REPLY(Load::Reply, OR_DEFAULT(operators, calls_at_once) PASSNET_FIELDS_IF_SET(passes))
REQUEST(Inputs, PASSNET_FIELDS(id, weight_meta, input_meta, seed) OR_DEFAULT(profile, share, keep))
REPLY(Inputs::Reply, PASSNET_FIELDS_IF_SET(tensors, call_seed))
REQUEST(SetInputs, PASSNET_FIELDS(id) PASSNET_FIELDS_IF_SET(tensors, replace, call_seed, restore, of))
REQUEST(Rewind, PASSNET_FIELDS(id))
REQUEST(Trace, PASSNET_FIELDS(id) OR_DEFAULT(measured))
REPLY(Trace::Reply, PASSNET_FIELDS(values))
REQUEST(Infer, PASSNET_FIELDS(id, weight_meta, input_meta))
REPLY(Infer::Reply, PASSNET_FIELDS(values))
REQUEST(Run, PASSNET_FIELDS(id) OR_DEFAULT(checked, share, again) PASSNET_FIELDS_IF_SET(room_bytes))
REPLY(Run::Reply, PASSNET_FIELDS_IF_SET(outputs) OR_DEFAULT(inputs, scalars, layouts, peak_bytes, rows_seed)
                      PASSNET_FIELDS_IF_SET(in_room))
REQUEST(MakeRoom, PASSNET_FIELDS(id))
REPLY(MakeRoom::Reply, PASSNET_FIELDS(room_bytes))
REPLY(CallChecks, PASSNET_FIELDS(compared, outputs, inputs))
REQUEST(Compare, PASSNET_FIELDS(id, tensors) PASSNET_FIELDS_IF_SET(in_room) OR_DEFAULT(scalars, layouts))
PART(Judge::Output, "output", PASSNET_FIELDS(name) PASSNET_FIELDS_IF_SET(budget) PASSNET_FIELDS(differs))
REQUEST(Judge,
        PASSNET_FIELDS(id, tensors, profile) OR_DEFAULT(float64, scalars, rows_seed) PASSNET_FIELDS_IF_SET(in_room))
REPLY(Judge::Reply, PASSNET_FIELDS(outputs, null_models, no_float64))
REQUEST(DependsOn, PASSNET_FIELDS(id, input))
REPLY(DependsOn::Reply, PASSNET_FIELDS(depends))
REPLY(CallTimes,
      PASSNET_FIELDS(times_us) OR_DEFAULT(changed, mode) PASSNET_FIELDS_IF_SET(why_not_recorded, sm_mhz, temperature_c))
REQUEST(Time, PASSNET_FIELDS(id, calls) OR_DEFAULT(fingerprint, settle, clock, fresh, flush, together))
REQUEST(ReadClocks, PASSNET_FIELDS(id, calls))
REPLY(ReadClocks::Reply, PASSNET_FIELDS(calls_us) PASSNET_FIELDS_IF_SET(device_us))
REQUEST(MakeCallSets, PASSNET_FIELDS(id, sets) OR_DEFAULT(whole))
REPLY(MakeCallSets::Reply, PASSNET_FIELDS(tensors, stride, sets))
REQUEST(RenewCallSets, PASSNET_FIELDS(id, seed, calls) OR_DEFAULT(draw))
REQUEST(SetCallSets, PASSNET_FIELDS(id, tensors, stride, sets))
REQUEST(TimeOnSets, PASSNET_FIELDS(id, calls) OR_DEFAULT(together, settling, seed, draw, planted, wider, expected))
REPLY(TimeOnSets::Reply, JsonFields<protocol::CallTimes>::visit(field, it.times);
      PASSNET_FIELDS_IF_SET(outputs) OR_DEFAULT(scalars, rows_seed))
REQUEST(CompareCalls, PASSNET_FIELDS(id, tensors) OR_DEFAULT(scalars, rows_seed, known) PASSNET_FIELDS_IF_SET(allowed))
PART(CallProfile::Launch, "launch", PASSNET_FIELDS(list, launch, us, bytes, bound_us))
PART(CallProfile::Operator, "operator", PASSNET_FIELDS(node, us))
PART(CallProfile, "profile", PASSNET_FIELDS(call_us, launches, others))
REQUEST(Profile, PASSNET_FIELDS(id, calls))
REPLY(Profile::Reply, PASSNET_FIELDS(profile))
REQUEST(Unload, PASSNET_FIELDS(id))
REPLY(Unload::Reply, PASSNET_FIELDS_IF_SET(device_memory))
REQUEST(Package, PASSNET_FIELDS(model, file, inputs, path))
REPLY(Package::Reply, OR_DEFAULT(outputs))
REQUEST(Source, PASSNET_FIELDS(from))
REPLY(Source::Reply, PASSNET_FIELDS(source, models)
                         PASSNET_EXPAND(PASSNET_EACH(field.or_null, library_version, torch_version, licence)))
REQUEST(Capture, PASSNET_FIELDS(model, out, directory, shapes, seconds, memory_bytes))
REPLY(Capture::Reply, PASSNET_FIELDS(entry))
WITHOUT_FIELDS(Exit, "exit")
PART(Refusal::Code, "code", PASSNET_FIELDS(list, launch, offset))
MESSAGE(Refusal, PART(Refusal, "refusal",
                      OR_DEFAULT(kind, error) PASSNET_FIELDS_IF_SET(at, hint, launch, code, retry, ends_worker)))

}  // namespace passnet
