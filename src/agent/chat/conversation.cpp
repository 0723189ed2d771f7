#include "agent/chat/conversation.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "agent/chat/calls.h"
#include "base/json/json_object.h"

namespace passnet {

PASSNET_JSON_FIELDS(agent::ToolCall, "tool call", PASSNET_FIELDS(id, name, arguments) PASSNET_FIELDS_IF_SET(problem))

namespace {
// The role as a word; everything else is as it stands.
struct StoredMessage {
  std::string role;
  agent::Message message;
};
}  // namespace

template <>
struct JsonFields<StoredMessage> {
  static constexpr std::string_view kName = "message";
  static void visit(auto& field, auto& stored) {
    field("role", stored.role);
    field("content", stored.message.text);
    field.if_set("reasoning", stored.message.reasoning);
    field.if_set("signature", stored.message.signature);
    field.if_set("tool_calls", stored.message.calls);
    field.if_set("tool_call_id", stored.message.call_id);
    field.if_set("name", stored.message.tool);
    field.if_set("is_error", stored.message.is_error);
  }
};

}  // namespace passnet

namespace passnet::agent {

const char* to_string(Role role) {
  switch (role) {
    case Role::System: return "system";
    case Role::User: return "user";
    case Role::Assistant: return "assistant";
    case Role::Tool: return "tool";
  }
  return "user";
}

Usage& Usage::operator+=(const Usage& other) {
  input += other.input;
  cached += other.cached;
  output += other.output;
  reasoning += other.reasoning;
  return *this;
}

std::string clean_text(std::string_view text, size_t limit) {
  if (text.size() <= limit) return valid_utf8(text);
  return fmt::format("{}\n[cut: {} of {} bytes are shown]", valid_utf8(text.substr(0, limit)), limit, text.size());
}

int64_t estimate_tokens(std::string_view text) { return static_cast<int64_t>((text.size() + 3) / 4); }

int64_t estimate_tokens(const Message& message) {
  constexpr int64_t kRole = 4;  // what an API puts around a message or a call
  int64_t tokens = kRole + estimate_tokens(message.text) + estimate_tokens(message.reasoning);
  for (const ToolCall& call : message.calls)
    tokens += kRole + estimate_tokens(call.name) + estimate_tokens(call.arguments);
  return tokens;
}

int64_t estimate_tokens(const Conversation& conversation) {
  int64_t tokens = 0;
  for (const Message& message : conversation) tokens += estimate_tokens(message);
  return tokens;
}

Json to_json(const Message& message) { return to_json_object(StoredMessage{to_string(message.role), message}); }

Result<Message> message_from_json(const Json& json) {
  PASSNET_TRY(StoredMessage stored, from_json_object<StoredMessage>(json));
  for (const Role role : {Role::System, Role::User, Role::Assistant, Role::Tool}) {
    if (stored.role != to_string(role)) continue;
    stored.message.role = role;
    // Whoever edited the file may have left arguments that are no JSON.
    for (ToolCall& call : stored.message.calls) {
      if (call.problem.empty()) call = read_call(call.id, call.name, call.arguments, false);
    }
    return std::move(stored.message);
  }
  return bad_input(fmt::format("message: field 'role': expected system, user, assistant or tool, found '{}'",
                               clean_text(stored.role, 40)));
}

}  // namespace passnet::agent
