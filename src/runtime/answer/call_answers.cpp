// Answers to requests that call a graph, and that compare or time calls.
#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <span>

#include "base/text/strings.h"
#include "runtime/answer/answers.h"
#include "runtime/answer/received.h"
#include "runtime/plan/profile.h"
#include "runtime/session/call_checks.h"
#include "runtime/session/calls.h"
#include "runtime/session/fresh_calls.h"
#include "runtime/session/judge.h"
#include "runtime/session/loaded_graph.h"
#include "runtime/session/peer_tensors.h"
#include "runtime/session/perturbed.h"
#include "runtime/session/timed_calls.h"

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

Error no_sets(const char* maker) {
  return bad_input("there are no sets of inputs").with_hint(fmt::format("send '{}' first", maker));
}

}  // namespace

Answered<protocol::Run> Answers::answer(const protocol::Run& request, Fds& fds) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(const Share share, read_share(request.share));
  std::optional<wire::DeviceRoom> room;
  if (!fds.empty()) {
    if (!request.room_bytes) return bad_input("a descriptor came with the request, expected 'room_bytes' with it");
    room = wire::DeviceRoom{*request.room_bytes, std::move(fds[0])};
  }
  PASSNET_TRY(CallOutputs outputs, run_once(*graph, request.checked, share, request.again, room ? &*room : nullptr));
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
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(wire::DeviceRoom room, lend_room(*graph));
  protocol::Answer<protocol::MakeRoom> answer{{room.size_bytes}};
  if (room.memory) answer.fds.push_back(std::move(room.memory));
  return answer;
}

Answered<protocol::Compare> Answers::answer(const protocol::Compare& request, Fds& fds) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(const SharedTensors found, receive_tensors(*request.tensors, request.in_room, fds));
  PASSNET_TRY(const CallResult result, result_of(*graph, found, *request.scalars));
  return protocol::Answer<protocol::Compare>{compare(*graph, result, request.layouts)};
}

Answered<protocol::Judge> Answers::answer(const protocol::Judge& request, Fds& fds) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  LoadedGraph* float64 = nullptr;
  if (!request.float64.empty()) {
    PASSNET_TRY(float64, find_graph(request.float64));
  }
  PASSNET_TRY(const SharedTensors found, receive_tensors(*request.tensors, request.in_room, fds));
  PASSNET_TRY(const CallResult result, result_of(*graph, found, *request.scalars));
  PASSNET_TRY(protocol::Judge::Reply judged, judge_call(*graph, float64, result, request.rows_seed, request.profile));
  return protocol::Answer<protocol::Judge>{std::move(judged)};
}

Answered<protocol::DependsOn> Answers::answer(const protocol::DependsOn& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(const bool depends, depends_on(*graph, request.input));
  return protocol::Answer<protocol::DependsOn>{{depends}};
}

Answered<protocol::Time> Answers::answer(const protocol::Time& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY_VOID(require_calls(request.calls));
  if (request.clock != "host" && request.clock != "device")
    return bad_input(fmt::format("clock {}: expected host or device", quoted(request.clock)));
  if (request.together < 1) return bad_input(fmt::format("{} calls together: expected at least 1", request.together));
  PASSNET_TRY(protocol::CallTimes times, time_calls(*graph, request));
  return protocol::Answer<protocol::Time>{std::move(times)};
}

Answered<protocol::ReadClocks> Answers::answer(const protocol::ReadClocks& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY_VOID(require_calls(request.calls));
  PASSNET_TRY(const protocol::ReadClocks::Reply readings, read_clocks(*graph, request.calls));
  return protocol::Answer<protocol::ReadClocks>{readings};
}

Answered<protocol::MakeCallSets> Answers::answer(const protocol::MakeCallSets& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY_VOID(graph->require_inputs());
  UniqueFd memory;
  PASSNET_TRY(graph->call_sets, CallSets::make({*graph->input_set(), graph->metas, graph->outputs_bytes(),
                                                graph->device().room_bytes(), request.whole},
                                               request.sets, &memory));
  const CallSets& sets = *graph->call_sets;
  protocol::Answer<protocol::MakeCallSets> answer{{wire::to_json(sets.entries()), sets.stride(), sets.size()}};
  answer.fds.push_back(std::move(memory));
  return answer;
}

Answered<protocol::RenewCallSets> Answers::answer(const protocol::RenewCallSets& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  if (!graph->call_sets) return no_sets("make_call_sets");
  PASSNET_TRY_VOID(
      graph->call_sets->renew(*graph->input_set(), graph->metas, request.seed, request.calls, request.draw));
  return protocol::Answer<protocol::RenewCallSets>{};
}

Answered<protocol::SetCallSets> Answers::answer(const protocol::SetCallSets& request, Fds& fds) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(ReceivedBundle bundle, receive_bundle(*request.tensors, fds));
  const int64_t size = bundle.memory.size_bytes();
  if (request.stride < 1 || request.sets < 1 || request.sets > size / request.stride)
    return bad_input(fmt::format("{} sets of {} bytes: the memory has {}", request.sets, request.stride, size));
  graph->call_sets =
      std::make_unique<CallSets>(std::move(bundle.entries), request.stride, request.sets, std::move(bundle.memory));
  return protocol::Answer<protocol::SetCallSets>{};
}

Answered<protocol::TimeOnSets> Answers::answer(const protocol::TimeOnSets& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  if (!graph->call_sets) return no_sets(request.expected ? "make_call_sets" : "set_call_sets");
  if (request.expected) graph->expected_calls.clear();
  PASSNET_TRY(FreshTimes timed, time_fresh_calls(*graph, request));
  protocol::Answer<protocol::TimeOnSets> answer;
  answer.reply.times = std::move(timed.times);
  if (request.expected) {
    graph->expected_calls = std::move(timed.results);
    return answer;
  }
  PASSNET_TRY(CallOutputs outputs, share_results(timed.results, graph->shared_results));
  answer.reply.outputs = IndirectJson(wire::to_json(outputs.tensors.entries));
  answer.reply.scalars = std::move(outputs.scalars);
  answer.reply.rows_seed = outputs.rows_seed;
  answer.fds.push_back(std::move(outputs.tensors.memory));
  return answer;
}

Answered<protocol::CompareCalls> Answers::answer(const protocol::CompareCalls& request, Fds& fds) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  PASSNET_TRY(const SharedTensors found, receive_tensors(*request.tensors, false, fds));
  PASSNET_TRY(const std::vector<at::Tensor> tensors, peer_tensors(found, graph->room.bytes));
  PASSNET_TRY(protocol::CallChecks checks,
              check_calls(*graph, {found.entries, tensors, *request.scalars, request.rows_seed}, request.known,
                          request.allowed));
  return protocol::Answer<protocol::CompareCalls>{std::move(checks)};
}

Answered<protocol::Profile> Answers::answer(const protocol::Profile& request, Fds&) {
  PASSNET_TRY(LoadedGraph* const graph, find_graph(request.id));
  if (request.calls < 1 || request.calls > 10'000)
    return bad_input(fmt::format("{} calls: expected 1 to 10000", request.calls));
  PASSNET_TRY_VOID(graph->require_inputs());
  PASSNET_TRY_VOID(graph->learn_mutations());
  PASSNET_TRY(
      protocol::CallProfile profile,
      profile_calls(graph->plan(), graph->fused(), static_cast<int>(request.calls), [&] { graph->prepare_call(); }));
  return protocol::Answer<protocol::Profile>{{std::move(profile)}};
}

}  // namespace passnet::runtime
