#include "agent/model/model.h"

#include <fmt/format.h>

#include <algorithm>
#include <ctime>
#include <initializer_list>
#include <memory>
#include <optional>
#include <random>
#include <variant>

#include "agent/chat/calls.h"
#include "agent/chat/sse.h"
#include "agent/chat/text_calls.h"
#include "agent/chat/text_tools.h"
#include "base/file/replace.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

// A try that failed, and whether and when the next one may succeed.
struct Failed {
  Error error;
  bool passing = false;
  std::string retry_after = {};
  int status = 0;         // of the refusal
  std::string said = {};  // its body
};

/// Parts of requests that the server refuses. All attempts of a run share them.
struct Habits {
  std::atomic<bool> refuses_max_tokens = false, refuses_stream_options = false, refuses_null = false;
};

http::Request http_request(const ModelOptions& options, std::string body) {
  http::Request request{join_url(options.base_url, *options.api), {}, std::move(body)};
  const bool anthropic = options.api == &kAnthropic;
  if (anthropic) request.headers.push_back("anthropic-version: 2023-06-01");
  if (!options.key.empty())
    request.headers.push_back((anthropic ? "x-api-key: " : "Authorization: Bearer ") + options.key);
  if (options.request.stream) request.headers.push_back("Accept: text/event-stream");
  return request;
}

// A server may repeat the key in what it says of it.
std::string without_key(std::string text, const std::string& key) {
  return key.size() < 4 ? text : replace_all(std::move(text), key, "[key]");
}

bool says(std::string_view text, std::initializer_list<const char*> words) {
  return std::ranges::any_of(words, [&](const char* word) { return text.find(word) != std::string_view::npos; });
}

Error refusal(const http::Answer& answer, const ModelOptions& options) {
  const std::string said = error_of_body(valid_utf8(answer.body));
  Error error =
      resource_error(fmt::format("the server answers {}: {}", answer.status, said.empty() ? "nothing more" : said));
  if (answer.status == 401 || answer.status == 403)
    error.hint = fmt::format("set {}, or give --key-file", options.api->key_variable);
  if (answer.status == 404) error.hint = "is this the --base-url, and the name of a --model there?";
  if (answer.status >= 300 && answer.status < 400) error.hint = "give the address that it has moved to as --base-url";
  const bool is_refusal = answer.status == 400 || answer.status == 422;
  if (is_refusal && says(answer.body, {"stream"})) error.hint = "--no-stream asks for whole answers";
  if (is_refusal && says(answer.body, {"support tools", "tool-call-parser", "tool_choice"}))
    error.hint = "--tools text is for servers and models without calls of their own";
  if (answer.status != 429 && tells_of_context(answer.body)) error.failure = "context";
  return error;
}

/// After empty lines, which keep a connection open.
bool is_object(std::string_view body) { return trim(body).starts_with('{'); }

Result<Answer> finish(EventReader& events, AnswerStream& stream) {
  for (const std::string& event : events.finish()) PASSNET_TRY_VOID(stream.add(valid_utf8(event)));
  return stream.finish();
}

std::variant<Answer, Failed> ask_once(const ModelOptions& options, const http::Request& request,
                                      const std::atomic<bool>* stop) {
  const std::unique_ptr<AnswerStream> stream = options.api->stream();
  EventReader events;
  std::string begin;  // of what came, in case that it is no stream
  const auto on_data = [&](std::string_view piece) -> Result<void> {
    if (trim(begin).empty() || is_object(begin)) begin += piece;
    for (const std::string& event : events.add(piece)) PASSNET_TRY_VOID(stream->add(valid_utf8(event)));
    return {};
  };
  Result<http::Answer> answer =
      http::post(request, options.limits,
                 options.request.stream ? on_data : std::function<Result<void>(std::string_view)>(), stop);
  if (!answer) {
    const bool passing = http::is_passing(answer.error());
    return Failed{std::move(answer).error(), passing};
  }
  if (answer->status != 200) {
    Error error = refusal(*answer, options);
    const bool passing = http::is_passing(answer->status) && error.failure != "context";
    return Failed{std::move(error), passing, answer->retry_after, answer->status, std::move(answer->body)};
  }
  // Servers that stream nothing answer as if they had not been asked to.
  const bool is_whole = !options.request.stream || is_object(begin);
  Result<Answer> read = is_whole ? options.api->answer(valid_utf8(options.request.stream ? begin : answer->body))
                                 : finish(events, *stream);
  if (read) return std::move(*read);
  const bool passing = http::is_passing(read.error());
  return Failed{std::move(read).error(), passing};
}

// The conversation with everything about tools in its texts.
Conversation in_text(const Conversation& conversation, const std::vector<ToolSpec>& tools) {
  Conversation plain = without_tools(conversation);
  for (Message& message : plain) {
    if (message.role != Role::System) continue;
    message.text += "\n\n" + describe_in_text(tools);
    return plain;
  }
  plain.insert(plain.begin(), {Role::System, describe_in_text(tools)});
  return plain;
}

double random_part() {
  thread_local std::mt19937_64 generator{std::random_device{}()};
  return std::uniform_real_distribution<double>(0, 1)(generator);
}

/// Learns from a refusal. Returns: the request can be made in another way.
bool learn(const Failed& failed, const Request& request, Habits& habits) {
  if (failed.status != 400 && failed.status != 422 && failed.status != 500) return false;
  const bool is_unknown =
      says(failed.said, {"nsupported", "not supported", "nrecognized", "nknown", "nexpected", "not permitted"});
  const bool names_limit =
      says(failed.said, {"max_completion_tokens"}) || (is_unknown && says(failed.said, {"max_tokens"}));
  const bool limit = request.max_output_tokens > 0 && !request.completion_tokens && names_limit;
  const bool usage =
      request.stream && request.usage_in_stream && says(failed.said, {"stream_options", "include_usage"});
  const bool null =
      !request.empty_text_for_none && says(failed.said, {"content"}) && says(failed.said, {"null", "None"});
  if (limit) habits.refuses_max_tokens = true;
  if (usage) habits.refuses_stream_options = true;
  if (null) habits.refuses_null = true;
  return limit || usage || null;
}

Error interrupted_error() { return resource_error("interrupted").with_failure("interrupted"); }

struct Question {
  const Conversation& conversation;
  Request request;
};

Result<Answer> ask(const ModelOptions& options, Question question, Habits& habits, const std::atomic<bool>* stop,
                   const std::function<void(const std::string&)>& told) {
  Request& request = question.request;
  for (int done = 1;;) {
    request.completion_tokens = habits.refuses_max_tokens;
    request.usage_in_stream = !habits.refuses_stream_options;
    request.empty_text_for_none = habits.refuses_null;
    std::variant<Answer, Failed> came =
        ask_once(options, http_request(options, options.api->request(question.conversation, request)), stop);
    if (Answer* answer = std::get_if<Answer>(&came)) return std::move(*answer);
    if (stop != nullptr && *stop) return interrupted_error();
    Failed& failed = std::get<Failed>(came);
    if (learn(failed, request, habits)) continue;
    failed.error.message = without_key(std::move(failed.error.message), options.key);
    const std::optional<double> asked = http::parse_retry_after(failed.retry_after, std::time(nullptr));
    const bool too_long = asked && *asked > options.retries.retry_after_limit_s;
    if (!failed.passing || too_long) return std::move(failed.error);
    if (done >= options.retries.tries)
      return std::move(failed.error).with_note(fmt::format("while asking the model, {} times", done));
    const double seconds = http::wait_before(done++, asked, random_part(), options.retries);
    if (told) told(fmt::format("{}; again in {:.1f} s", failed.error.message, seconds));
    if (!http::wait(seconds, stop)) return interrupted_error();
  }
}

}  // namespace

Model connect(const ModelOptions& options, const std::atomic<bool>* stop,
              const std::function<void(const std::string&)>& told) {
  return [options, stop, told, habits = std::make_shared<Habits>()](
             const Conversation& conversation, const std::vector<ToolSpec>& tools) -> Result<Answer> {
    Request request = options.request;
    if (options.native_tools) request.tools = tools;
    const Conversation sent = options.native_tools ? conversation : in_text(conversation, tools);
    PASSNET_TRY(Answer answer, ask(options, {sent, std::move(request)}, *habits, stop, told));
    Message& message = answer.message;
    if (message.calls.empty() && !options.native_tools) {
      CallsInText found = calls_in_text(message.text, tools, is_cut(answer.finish));
      message.calls = std::move(found.calls);
      message.text = std::move(found.text);
    }
    make_ids_unique(message.calls, conversation);
    return answer;
  };
}

}  // namespace passnet::agent
