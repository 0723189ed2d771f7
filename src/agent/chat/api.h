// The two APIs that models are asked by: a conversation as the body of a request, and an answer from what came back.
// Quirks, which docs/agent.md lists: what servers send | what is made of it
//   the old `function_call` | the call
//   an error inside the stream | retried if temporary, else reported
//   no `[DONE]`, comments, empty events, a byte order mark, a whole answer for a stream | the answer
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "agent/chat/conversation.h"

namespace passnet::agent {

/// Puts an answer together from the events of its stream.
class AnswerStream {
 public:
  virtual ~AnswerStream() = default;
  /// The data of one event. Errors: Resource: what the server says went wrong; BadInput: no JSON of this API.
  virtual Result<void> add(std::string_view event) = 0;
  /// Errors: Resource "cut-answer": the stream ended before the answer did.
  virtual Result<Answer> finish() = 0;
};

struct Api {
  const char* name;          // of --api
  const char* path;          // below the base URL
  const char* key_variable;  // of the environment
  /// Anthropic's base URL goes without the "/v1" that OpenAI's ends in; both are taken with and without.
  bool path_has_version;
  std::string (*request)(const Conversation& conversation, const Request& request);
  /// The body of an answer that was not streamed. Errors: as AnswerStream.
  Result<Answer> (*answer)(std::string_view body);
  std::unique_ptr<AnswerStream> (*stream)();
};
extern const Api kOpenAi;
extern const Api kAnthropic;

/// "http://host:8000/v1" and the path of an API; a base that ends in the path already stays.
std::string join_url(std::string_view base, const Api& api);

/// The server reports an error in place of an answer, or in the middle of one: an object, a text, or an event "error".
bool is_error(const Json& json);
/// Returns the error that is_error() found. Failure "context": the prompt is too long; "cut-answer": the same request may
/// succeed later; or "server-error".
Error server_error(const Json& json);
/// An event of a stream. Errors: Resource "cut-answer": it is no object; what is_error() finds in it.
Result<Json> read_event(std::string_view event);
/// Returns the error of a stream that ended before its answer did.
Error stream_ended();
/// The prompt is longer than the model takes, in the words of any server. said: the body of its answer.
bool tells_of_context(std::string_view said);

/// What a server says of an error, from the body of its answer: one line, without the key.
std::string error_of_body(std::string_view body);

}  // namespace passnet::agent
