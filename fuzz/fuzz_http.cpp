// Any bytes as what a client sends: the head is refused or read, and then is the same with any further field that does
// not count; the body is answered as by `passnet mcp` and `passnet reward`.
#include <cstdint>
#include <cstdlib>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <thread>

#include "agent/mcp/protocol.h"
#include "agent/reward/service.h"
#include "base/file/temporary_directory.h"
#include "base/json/json.h"
#include "http/request.h"

namespace {

using namespace passnet;

const agent::McpOffer& offer() {
  static const agent::McpOffer one = [] {
    agent::McpOffer made{"passnet", "1", "how", {}, {}, {}};
    made.tools.push_back({"echo", "says it again", R"({"type": "object"})",
                          [](const Json& arguments, const std::atomic<bool>*) -> Result<agent::McpResult> {
                            return agent::McpResult{dump(arguments), false, R"({"a": 1})"};
                          }});
    made.resources.push_back(
        {"passnet://a", "a", "of a", "text/plain", [] { return Result<std::string>(std::string(1000, 'a')); }});
    made.prompts.push_back({"write", "writes", {{"task", "which", true}}, [](const Json& arguments) {
                              return Result<std::string>(plain_text(arguments["task"]));
                            }});
    return made;
  }();
  return one;
}

/// Returns a service with one task, which has no graphs; nothing is evaluated.
agent::RewardService& rewards() {
  static const Result<TemporaryDirectory> place = TemporaryDirectory::make("passnet-fuzz-");
  static const Result<std::unique_ptr<agent::JobQueue>> queue = agent::JobQueue::open(place->path());
  graphdir::Sample sample;
  sample.name = "task";
  const auto evaluate = [](const graphdir::Sample&, bool, const std::function<bool()>&) {
    return Result<agent::Records>(agent::Records());
  };
  static agent::RewardService service({{sample, "prompt"}}, {evaluate, 1}, **queue);
  return service;
}

/// Waits for the last reply to a request, and returns it.
http::Reply answer_of(const http::Route& route, const std::string& body) {
  http::Reply reply = route.answer({body});
  while (reply.later) {
    if (std::optional<http::Reply> there = reply.later()) return std::move(*there);
    std::this_thread::yield();
  }
  return reply;
}

void check_head(const std::string& head) {
  const http::Admission admission{true, 1 << 20};
  const auto parsed = http::parse_head(head, admission);
  if (!parsed) {
    if (parsed.error().status < 400 || parsed.error().why.empty()) std::abort();
    return;
  }
  if (parsed->body_bytes > admission.max_body_bytes || !parsed->path.starts_with('/')) std::abort();
  const size_t line = head.find("\r\n") + 2;
  const auto more = http::parse_head(head.substr(0, line) + "X-Other: 1\r\n" + head.substr(line), admission);
  // One more may be one too many.
  if (more ? more->body_bytes != parsed->body_bytes || more->path != parsed->path : more.error().status != 431)
    std::abort();
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* data, size_t size) {
  const std::string text(reinterpret_cast<const char*>(data), size);
  const size_t end = text.find("\r\n\r\n");
  check_head(end == std::string::npos ? text : text.substr(0, end + 4));
  const std::string body = end == std::string::npos ? text : text.substr(end + 4);
  if (!http::has_few_json_values(body)) return 0;
  if (const auto answer = agent::answer_mcp(offer(), body); answer && !try_parse_json(*answer).is_structured())
    std::abort();
  static const std::vector<http::Route> routes = rewards().routes();
  for (const http::Route& route : routes) {
    if (route.path == "/metrics") continue;
    const http::Reply reply = answer_of(route, body);
    if (reply.status < 200 || reply.status > 599 || !try_parse_json(reply.body).is_object()) std::abort();
  }
  return 0;
}
