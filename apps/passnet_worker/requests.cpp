#include "requests.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "runtime/cpu/cell/operator_threads.h"
#include "runtime/device/device_error.h"
#include "runtime/device/kernel_fault.h"
#include "runtime/session/process.h"

namespace passnet::worker {

namespace {

using runtime::Answers;

template <class Request>
Result<IndirectJson> answer_as(Answers& answers, const Json& json, std::vector<UniqueFd> received,
                               std::vector<UniqueFd>& fds) {
  PASSNET_TRY(const Request request, protocol::from_json<Request>(json));
  PASSNET_TRY(protocol::Answer<Request> answer, answers.answer(request, received));
  fds = std::move(answer.fds);
  return IndirectJson(protocol::to_json(answer.reply));
}

struct Row {
  protocol::RequestName request;
  Result<IndirectJson> (*answer)(Answers&, const Json&, std::vector<UniqueFd>, std::vector<UniqueFd>&);
  bool is_timed = false;
};

template <class Request>
constexpr Row row(bool is_timed = false) {
  return {Request::kRequest, &answer_as<Request>, is_timed};
}

constexpr Row kRows[] = {
    row<protocol::Hello>(),        row<protocol::Calibrate>(),
    row<protocol::Load>(),         row<protocol::CheckTarget>(),
    row<protocol::Inputs>(),       row<protocol::SetInputs>(),
    row<protocol::Rewind>(),       row<protocol::Trace>(),
    row<protocol::Infer>(),        row<protocol::Run>(),
    row<protocol::MakeRoom>(),     row<protocol::Compare>(),
    row<protocol::Judge>(),        row<protocol::DependsOn>(),
    row<protocol::Time>(true),     row<protocol::ReadClocks>(true),
    row<protocol::MakeCallSets>(), row<protocol::RenewCallSets>(),
    row<protocol::SetCallSets>(),  row<protocol::TimeOnSets>(true),
    row<protocol::CompareCalls>(), row<protocol::Profile>(),
    row<protocol::Unload>(),       row<protocol::Exit>(),
};

constexpr const char* kNotTheGraph = "is the GPU well, large enough for this graph, and free of other processes?";
constexpr const char* kOurBug = "this is a bug of PassNet; please report it with the graph";

protocol::Refusal refusal_of(std::string kind, std::string message, std::optional<SourceLoc> at = {},
                             std::string hint = {}) {
  if (at && at->file.empty()) at.reset();
  return {std::move(kind), std::move(message), std::move(at), std::move(hint)};
}

}  // namespace

Requests::Requests(runtime::Role role, Result<void> started, fx::Operators operators)
    : role_(role), started_(std::move(started)) {
  if (started_) answers_.emplace(role, operators);
}

std::string Requests::answer(wire::Message message, std::vector<UniqueFd>& fds, bool* done) {
  try {
    Result<IndirectJson> reply = dispatch(std::move(message), fds, done);
    if (!reply) {
      const Error& error = reply.error();
      return refuse(refusal_of(to_string(error.kind), error.message, error.at, error.hint), done);
    }
    Json json{{"ok", true}};
    json.update(**reply);
    return dump(json);
  } catch (const runtime::KernelFault& fault) {
    // A GPU that stops although no kernel of a pass is loaded was stopped by an operator of the graph.
    const bool of_an_operator = fault.ends_worker && !answers_->has_kernels();
    protocol::Refusal refusal = refusal_of(of_an_operator ? "bad-input" : fault.kind, fault.message, fault.at);
    refusal.launch = fault.launch;
    if (fault.code) refusal.code = {fault.code->list, fault.code->launch, fault.code->offset};
    refusal.ends_worker = fault.ends_worker;
    return refuse(std::move(refusal), done);
  } catch (const nlohmann::json::exception& problem) {
    return refuse(refusal_of("bad-input", fmt::format("a request that is not understood: {}", problem.what())), done);
  } catch (const std::bad_alloc&) {
    return refuse(refusal_of("resource", "out of memory", {}, "a smaller graph, or a machine with more memory"), done);
  } catch (const std::exception& problem) {
    return refuse(refusal_of("internal", problem.what(), {}, kOurBug), done);
  }
}

// What comes out of a call to the GPU is told from what is wrong with the graph, and says whether fresh workers may
// help.
std::string Requests::refuse(protocol::Refusal refusal, bool* done) const {
  runtime::Blame blame{refusal.kind, false, false};
  if (runtime::on_gpu() || !started_) blame = runtime::blame(refusal.kind, refusal.error);
  if (blame.kind != refusal.kind) {
    refusal.error = first_line(refusal.error);
    refusal.hint = blame.kind == "resource" ? kNotTheGraph : "";
  }
  refusal.kind = blame.kind;
  refusal.retry = blame.retry;
  refusal.ends_worker |= blame.ends_worker || runtime::device_has_stopped();
  if (refusal.ends_worker) *done = true;
  Json json{{"ok", false}};
  json.update(protocol::to_json(refusal));
  return dump(json);
}

Result<IndirectJson> Requests::dispatch(wire::Message message, std::vector<UniqueFd>& fds, bool* done) {
  PASSNET_TRY(const Json request, parse_json(message.json, "request"));
  PASSNET_TRY_VOID(started_);
  const auto asked = request.is_object() ? request.find("do") : request.end();
  if (asked == request.end() || !asked->is_string()) return bad_input("request: field 'do': expected a string");
  const auto& name = asked->get_ref<const std::string&>();
  std::vector<std::string_view> names;
  for (const Row& row : kRows) {
    names.emplace_back(row.request.name);
    if (name != row.request.name) continue;
    if (row.request.by == protocol::By::Reference && role_ != runtime::Role::Reference)
      return bad_input(fmt::format("only the reference worker answers '{}'", name));
    *done = name == protocol::Exit::kRequest.name;
    Result<IndirectJson> reply = row.answer(*answers_, request, std::move(message.fds), fds);
    // They would spin on for milliseconds, where the other worker is to compute now. A worker that was timed is stopped
    // as it is, and its next block begins as this one ended.
    if (!row.is_timed) runtime::end_operator_threads();
    return reply;
  }
  const std::string_view near = nearest_name(name, names);
  return bad_input(fmt::format("unknown request {}", passnet::quoted(name)))
      .with_hint(near.empty() ? "" : fmt::format("did you mean '{}'?", near));
}

}  // namespace passnet::worker
