#include "cluster/remote_queue.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <optional>
#include <utility>
#include <vector>

#include "base/file/file.h"
#include "base/random.h"
#include "base/text/strings.h"
#include "cluster/file_pieces.h"
#include "cluster/queue.h"
#include "cluster/queue_messages.h"
#include "cluster/queue_names.h"
#include "http/post.h"
#include "http/retry.h"

namespace passnet::cluster {

namespace {

constexpr http::RetryPolicy kRetries{.first_s = 0.5, .longest_s = 10};
constexpr http::Limits kLimits{.connect_s = 10, .idle_s = 60, .whole_s = 300};
constexpr http::Limits kShort{.connect_s = 2, .idle_s = 5, .whole_s = 10};

std::vector<std::string> headers_of(const RemoteOptions& options) {
  if (options.token.empty()) return {};
  return {"Authorization: Bearer " + options.token};
}

Error refusal_of(const std::string& url, const http::Answer& answer) {
  const Json json = try_parse_json(answer.body);
  const bool told = json.is_object() && json.contains("error");
  Error error = resource_error(fmt::format("{}: status {}: {}", url, answer.status,
                                           quoted(told ? plain_text(json["error"]) : answer.body, 200)));
  if (answer.status == 401) return std::move(error).with_hint("give --token-file with a token that the server knows");
  if (answer.status == 404) return std::move(error).with_hint("does 'passnet serve QUEUE' run there?");
  return error;
}

template <class T>
Result<T> read_reply(const Result<Json>& reply) {
  if (!reply) return reply.error();
  return from_json_object<T>(*reply);
}

double random_part() {
  const Result<uint64_t> drawn = random_number();
  return drawn ? static_cast<double>(*drawn >> 11) / static_cast<double>(uint64_t{1} << 53) : 0.5;
}

std::string name_of(const Claim& claim) { return claim.file.filename().string(); }

}  // namespace

bool is_url(std::string_view text) { return text.starts_with("http://") || text.starts_with("https://"); }

RemoteQueue::RemoteQueue(RemoteOptions options, TemporaryDirectory directory)
    : options_(std::move(options)), directory_(std::move(directory)) {}

Result<std::unique_ptr<RemoteQueue>> RemoteQueue::open(RemoteOptions options) {
  while (options.url.ends_with('/')) options.url.pop_back();
  PASSNET_TRY(TemporaryDirectory directory, TemporaryDirectory::make("passnet-work-"));
  std::unique_ptr<RemoteQueue> queue(new RemoteQueue(std::move(options), std::move(directory)));
  PASSNET_TRY(const Json rules, queue->ask("/queue/rules", "{}"));
  PASSNET_TRY(queue->rules_, parse_rules(compact(rules), queue->options_.url));
  return queue;
}

Result<Json> RemoteQueue::ask_once(const std::string& path, const std::string& body) const {
  const std::string url = options_.url + path;
  PASSNET_TRY(const http::Answer answer, http::post({url, headers_of(options_), body}, kShort, {}, nullptr));
  if (answer.status != 200) return refusal_of(url, answer);
  return parse_json(answer.body, url);
}

Result<Json> RemoteQueue::ask(const std::string& path, const std::string& body) const {
  const std::string url = options_.url + path;
  for (int tries = 1;; ++tries) {
    const Result<http::Answer> answer =
        http::post({url, headers_of(options_), body}, kLimits, {}, options_.interrupted);
    if (answer && answer->status == 200) return parse_json(answer->body, url);
    const Error error = answer ? refusal_of(url, *answer) : answer.error();
    if (!(answer ? http::is_passing(answer->status) : http::is_passing(error))) return error;
    if (tries == 1 && options_.waiting) options_.waiting(error.message);
    if (!http::wait(http::wait_before(tries, std::nullopt, random_part(), kRetries), options_.interrupted))
      return resource_error("interrupted");
  }
}

Result<Turn> RemoteQueue::next(bool forever) {
  PASSNET_TRY(
      const NextReply reply,
      read_reply<NextReply>(ask("/queue/next", compact(to_json_object(NextRequest{options_.worker, forever})))));
  if (reply.claim.empty()) return Turn{{}, reply.ended};
  const std::optional<StateName> state = parse_state_name(reply.claim);
  if (!state || !is_plain_name(state->key))
    return bad_input(fmt::format("{}: {} is no name of a claim", options_.url, quoted(reply.claim)));
  return Turn{Claim{state->key, reply.text, state->number, reply.claim, reply.has_result}};
}

bool RemoteQueue::renew(const Claim& claim) const {
  const auto reply =
      read_reply<HeldReply>(ask_once("/queue/renew", compact(to_json_object(ClaimRequest{name_of(claim)}))));
  return !reply || reply->held;
}

fs::path RemoteQueue::work_of(const Claim& claim) const { return directory_.path() / claim.key; }

Result<Settled> RemoteQueue::settle(const Claim& claim, Outcome outcome) {
  const std::string facts = compact(to_json_object(ClaimRequest{name_of(claim)})) + "\n";
  const std::string end = compact(to_json_object(SettleRequest{name_of(claim), static_cast<int>(outcome)}));
  // An interrupted worker does not wait: its lease gives the item to another.
  if (outcome == Outcome::Back) return read_reply<Settled>(ask_once("/queue/settle", end));
  HeldReply last{true};
  if (outcome != Outcome::Again) {
    PASSNET_TRY_VOID(send_files(work_of(claim), [&](const std::string& piece) -> Result<void> {
      if (!last.held) return {};
      PASSNET_TRY(last, read_reply<HeldReply>(ask("/queue/files", facts + piece)));
      return {};
    }));
  }
  PASSNET_TRY_VOID(remove_directory(work_of(claim)));
  if (!last.held) return Settled{};
  return read_reply<Settled>(ask("/queue/settle", end));
}

}  // namespace passnet::cluster
