// A talk with a language model, independent of whose API carries it: messages, calls of tools, and what an answer took.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "base/json/json.h"
#include "base/result.h"

namespace passnet::agent {

struct ToolCall {
  std::string id;  // unlike that of any other call of the conversation
  std::string name;
  std::string arguments;     // an object of JSON
  std::string problem = {};  // why it cannot be made: what the model wrote is no object; `arguments` are {} then
  bool operator==(const ToolCall&) const = default;
};

enum class Role { System, User, Assistant, Tool };
const char* to_string(Role role);

/// All text is UTF-8 and at most kMaxTextBytes of it (clean_text).
struct Message {
  Role role = Role::User;
  std::string text;
  std::string reasoning = {};           // Assistant: what it thought, where the API tells
  std::string signature = {};           // Assistant: of `reasoning`, which Anthropic wants back with it
  std::vector<ToolCall> calls = {};     // Assistant
  std::string call_id = {}, tool = {};  // Tool: the call that this answers, and what was called
  bool is_error = false;                // Tool: the call was wrong
  bool operator==(const Message&) const = default;
};
using Conversation = std::vector<Message>;

/// What a model may call.
struct ToolSpec {
  std::string name, description;
  std::string schema;  // of its arguments: a JSON schema, as text
};

/// Tokens, as the API counts them.
struct Usage {
  int64_t input = 0;   // of the prompt, cached ones among them
  int64_t cached = 0;  // of these: read from a cache
  int64_t output = 0;  // reasoning among them
  int64_t reasoning = 0;
  Usage& operator+=(const Usage& other);
  bool operator==(const Usage&) const = default;
};

struct Answer {
  Message message;  // of the assistant
  Usage usage;
  std::string finish;  // why it ended, as the API says: "stop", "tool_calls", "length", "end_turn"
};

/// How a model is asked, beside the conversation.
struct Request {
  std::string model;
  double temperature = -1;        // below 0: the server's own
  int64_t max_output_tokens = 0;  // 0: the server's own; Anthropic's API needs one and gets 8192
  bool stream = true;
  bool usage_in_stream = true;       // false: the server refuses stream_options
  bool completion_tokens = false;    // the server wants max_completion_tokens in place of max_tokens
  bool empty_text_for_none = false;  // the server refuses null as the text of an answer that only calls
  std::vector<ToolSpec> tools;       // none: calls stand in the text (text_tools.h)
};

/// Of one text: far more than a model reads or writes with sense.
inline constexpr size_t kMaxTextBytes = 256 * 1024;
/// Valid UTF-8 of at most `limit` bytes; what is cut off is told at the end.
std::string clean_text(std::string_view text, size_t limit = kMaxTextBytes);

/// About so many tokens: a quarter of the bytes.
int64_t estimate_tokens(std::string_view text);
int64_t estimate_tokens(const Message& message);
int64_t estimate_tokens(const Conversation& conversation);

/// A message as completions.jsonl keeps it. Errors: BadInput naming the field.
Json to_json(const Message& message);
Result<Message> message_from_json(const Json& json);

}  // namespace passnet::agent
