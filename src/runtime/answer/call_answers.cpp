// Answers to requests that call a graph, and that compare or time calls.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/text/strings.h"
#include "runtime/answer/answers.h"
#include "runtime/answer/received.h"

namespace passnet::runtime {

namespace {

Result<Share> read_share(const std::string& text) {
  if (text == "all") return Share::All;
  if (text == "some") return Share::Some;
  if (text == "none") return Share::None;
  return bad_input(fmt::format("share {}: expected all, some or none", quoted(text)));
}

/// Refuses numbers of calls that nobody asks for. Errors: BadInput.
Result<void> require_calls(int64_t calls) {
  if (calls < 0 || calls > 1'000'000) return bad_input(fmt::format("{} calls: expected 0 to 1000000", calls));
  return {};
}

protocol::CallTimes times_of(CallTimes times) {
  return {std::move(times.times_us),         times.changed,          std::move(times.mode),
          std::move(times.why_not_recorded), times.condition.sm_mhz, times.condition.temperature_c};
}

protocol::CallChecks checks_of(CallChecks checks) {
  protocol::CallChecks told{checks.compared, std::move(checks.outputs), {}};
  for (size_t i = 0; i < checks.inputs.size(); ++i) {
    if (checks.inputs[i]) told.inputs.insert_or_assign(checks.input_names[i], std::move(*checks.inputs[i]));
  }
  return told;
}

}  // namespace

Answered<protocol::Run> Answers::answer(const protocol::Run& request, Fds& fds) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY(const Share share, read_share(request.share));
  std::optional<wire::DeviceRoom> room;
  if (!fds.empty()) {
    if (!request.room_bytes) return bad_input("a descriptor came with the request, expected 'room_bytes' with it");
    room = wire::DeviceRoom{*request.room_bytes, std::move(fds[0])};
  }
  PASSNET_TRY(CallOutputs outputs, graph->run(request.checked, share, request.again, room ? &*room : nullptr));
  protocol::Answer<protocol::Run> answer;
  std::vector<wire::Entry>& all = outputs.tensors.entries;
  const auto first_input =
      std::ranges::stable_partition(all, [](const wire::Entry& entry) { return !changed_input(entry.name); });
  answer.reply.outputs = IndirectJson(wire::to_json(std::span(all.begin(), first_input.begin())));
  answer.reply.inputs = wire::to_json(first_input);
  answer.reply.scalars = std::move(outputs.scalars);
  answer.reply.layouts = std::move(outputs.layouts);
  answer.reply.peak_bytes = outputs.peak_bytes;
  if (share == Share::None) return answer;
  answer.reply.rows_seed = outputs.rows_seed;
  answer.reply.in_room = !outputs.tensors.memory;
  if (outputs.tensors.memory) answer.fds.push_back(std::move(outputs.tensors.memory));
  return answer;
}

Answered<protocol::MakeRoom> Answers::answer(const protocol::MakeRoom& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY(wire::DeviceRoom room, graph->make_room());
  protocol::Answer<protocol::MakeRoom> answer{{room.size_bytes}};
  if (room.memory) answer.fds.push_back(std::move(room.memory));
  return answer;
}

Answered<protocol::Compare> Answers::answer(const protocol::Compare& request, Fds& fds) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY(const SharedTensors found, receive_tensors(*request.tensors, request.in_room, fds));
  PASSNET_TRY(CallChecks checks, graph->compare(found, *request.scalars, request.layouts));
  return protocol::Answer<protocol::Compare>{checks_of(std::move(checks))};
}

Answered<protocol::Judge> Answers::answer(const protocol::Judge& request, Fds& fds) {
  PASSNET_TRY(Session* const graph, session(request.id));
  Session* float64 = nullptr;
  if (!request.float64.empty()) {
    PASSNET_TRY(float64, session(request.float64));
  }
  PASSNET_TRY(const SharedTensors found, receive_tensors(*request.tensors, request.in_room, fds));
  PASSNET_TRY(protocol::Judge::Reply judged,
              graph->judge(found, *request.scalars, request.rows_seed, float64, request.profile));
  return protocol::Answer<protocol::Judge>{std::move(judged)};
}

Answered<protocol::DependsOn> Answers::answer(const protocol::DependsOn& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY(const bool depends, graph->depends_on(request.input));
  return protocol::Answer<protocol::DependsOn>{{depends}};
}

Answered<protocol::Time> Answers::answer(const protocol::Time& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY_VOID(require_calls(request.calls));
  if (request.clock != "host" && request.clock != "device")
    return bad_input(fmt::format("clock {}: expected host or device", quoted(request.clock)));
  if (request.together < 1) return bad_input(fmt::format("{} calls together: expected at least 1", request.together));
  PASSNET_TRY(CallTimes times, graph->time({request.calls, request.settle, request.fingerprint, request.fresh,
                                            request.flush, request.clock == "device", request.together}));
  return protocol::Answer<protocol::Time>{times_of(std::move(times))};
}

Answered<protocol::ReadClocks> Answers::answer(const protocol::ReadClocks& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY_VOID(require_calls(request.calls));
  PASSNET_TRY(const protocol::ReadClocks::Reply readings, graph->read_clocks(request.calls));
  return protocol::Answer<protocol::ReadClocks>{readings};
}

Answered<protocol::MakeCallSets> Answers::answer(const protocol::MakeCallSets& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY(SharedSets sets, graph->make_call_sets(request.sets, request.whole));
  protocol::Answer<protocol::MakeCallSets> answer{{wire::to_json(sets.tensors.entries), sets.stride, sets.sets}};
  answer.fds.push_back(std::move(sets.tensors.memory));
  return answer;
}

Answered<protocol::RenewCallSets> Answers::answer(const protocol::RenewCallSets& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY_VOID(graph->renew_call_sets(request.seed, request.calls, request.draw));
  return protocol::Answer<protocol::RenewCallSets>{};
}

Answered<protocol::SetCallSets> Answers::answer(const protocol::SetCallSets& request, Fds& fds) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY(ReceivedBundle bundle, receive_bundle(*request.tensors, fds));
  const int64_t size = bundle.memory.size_bytes();
  if (request.stride < 1 || request.sets < 1 || request.sets > size / request.stride)
    return bad_input(fmt::format("{} sets of {} bytes: the memory has {}", request.sets, request.stride, size));
  graph->set_call_sets({{std::move(bundle.entries), {}}, request.stride, request.sets}, std::move(bundle.memory));
  return protocol::Answer<protocol::SetCallSets>{};
}

Answered<protocol::TimeOnSets> Answers::answer(const protocol::TimeOnSets& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  const FreshOptions options{request.calls, request.together, request.settling,
                             request.seed,  request.draw,     request.planted};
  protocol::Answer<protocol::TimeOnSets> answer;
  if (request.expected) {
    PASSNET_TRY(CallTimes times, graph->time_expected(options));
    answer.reply.times = times_of(std::move(times));
    return answer;
  }
  PASSNET_TRY(FreshCallTimes timed, graph->time_on_sets(options));
  answer.reply = {times_of(std::move(timed.times)), IndirectJson(wire::to_json(timed.outputs.tensors.entries)),
                  std::move(timed.outputs.scalars), timed.outputs.rows_seed};
  answer.fds.push_back(std::move(timed.outputs.tensors.memory));
  return answer;
}

Answered<protocol::CompareCalls> Answers::answer(const protocol::CompareCalls& request, Fds& fds) {
  PASSNET_TRY(Session* const graph, session(request.id));
  PASSNET_TRY(const SharedTensors found, receive_tensors(*request.tensors, false, fds));
  PASSNET_TRY(CallChecks checks,
              graph->compare_calls(found, *request.scalars, request.rows_seed, request.known, request.allowed));
  return protocol::Answer<protocol::CompareCalls>{checks_of(std::move(checks))};
}

Answered<protocol::Profile> Answers::answer(const protocol::Profile& request, Fds&) {
  PASSNET_TRY(Session* const graph, session(request.id));
  if (request.calls < 1 || request.calls > 10'000)
    return bad_input(fmt::format("{} calls: expected 1 to 10000", request.calls));
  PASSNET_TRY(protocol::CallProfile profile, graph->profile(static_cast<int>(request.calls)));
  return protocol::Answer<protocol::Profile>{{std::move(profile)}};
}

}  // namespace passnet::runtime
