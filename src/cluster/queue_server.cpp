#include "cluster/queue_server.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>
#include <mutex>
#include <nlohmann/json.hpp>
#include <string_view>

#include "cluster/file_pieces.h"
#include "cluster/queue_messages.h"

namespace passnet::cluster {

namespace {

http::Reply reply_of(const Result<Json>& answer) {
  if (answer) return {200, compact(*answer) + "\n"};
  const int status = answer.error().kind == Error::Kind::BadInput ? 400 : 500;
  return {status, compact(Json{{"error", answer.error().message}}) + "\n"};
}

template <class T>
Result<T> read_request(std::string_view body) {
  PASSNET_TRY(const Json json, parse_json(body, "the body"));
  return from_json_object<T>(json);
}

/// Answers by the functions of one queue. Its claims go through a list of names, one worker at a time.
class QueueServer {
 public:
  explicit QueueServer(Queue& queue) : queue_(queue) {}

  Result<Json> next(std::string_view body) {
    PASSNET_TRY(const NextRequest request, read_request<NextRequest>(body));
    const std::lock_guard lock(mutex_);
    PASSNET_TRY(const Turn turn, queue_.next_for(request.worker, request.forever));
    NextReply reply{{}, {}, false, turn.ended};
    if (turn.claim) reply = {turn.claim->file.filename().string(), turn.claim->text, turn.claim->has_result, false};
    return to_json_object(reply);
  }

  Result<Json> renew(std::string_view body) const {
    PASSNET_TRY(const Claim claim, claim_in(body));
    return to_json_object(HeldReply{queue_.renew(claim)});
  }

  Result<Json> files(std::string_view body) const {
    const size_t end = std::min(body.find('\n'), body.size());
    PASSNET_TRY(const Claim claim, claim_in(body.substr(0, end)));
    // Files of a claim that is lost are refused before they are written.
    const bool held = queue_.renew(claim);
    if (held) PASSNET_TRY_VOID(take_files(queue_.work_of(claim), body.substr(std::min(end + 1, body.size()))));
    return to_json_object(HeldReply{held});
  }

  Result<Json> settle(std::string_view body) const {
    PASSNET_TRY(const SettleRequest request, read_request<SettleRequest>(body));
    PASSNET_TRY(const Claim claim, queue_.claim_named(request.claim));
    if (request.outcome < 0 || request.outcome > static_cast<int>(Outcome::Back))
      return bad_input(
          fmt::format("found outcome {}, expected 0 to {}", request.outcome, static_cast<int>(Outcome::Back)));
    PASSNET_TRY(const Settled settled, queue_.settle(claim, static_cast<Outcome>(request.outcome)));
    return to_json_object(settled);
  }

 private:
  Result<Claim> claim_in(std::string_view body) const {
    PASSNET_TRY(const ClaimRequest request, read_request<ClaimRequest>(body));
    return queue_.claim_named(request.claim);
  }

  Queue& queue_;
  std::mutex mutex_;
};

}  // namespace

std::vector<http::Route> queue_routes(Queue& queue) {
  using Method = http::Route::Method;
  using http::ServerRequest;
  const auto server = std::make_shared<QueueServer>(queue);
  return {
      {Method::Post, "/queue/rules", [&queue](const ServerRequest&) { return reply_of(to_json(queue.rules())); }},
      {Method::Post, "/queue/next", [server](const ServerRequest& one) { return reply_of(server->next(one.body)); }},
      {Method::Post, "/queue/renew", [server](const ServerRequest& one) { return reply_of(server->renew(one.body)); }},
      {Method::Post, "/queue/files", [server](const ServerRequest& one) { return reply_of(server->files(one.body)); },
       false},
      {Method::Post, "/queue/settle",
       [server](const ServerRequest& one) { return reply_of(server->settle(one.body)); }},
      {Method::Get, "/queue/status", [&queue](const ServerRequest&) -> http::Reply {
         const Result<QueueStatus> status = queue.status();
         if (!status) return reply_of(status.error());
         return reply_of(to_json(*status));
       }}};
}

}  // namespace passnet::cluster
