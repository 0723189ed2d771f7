#include "agent/attempt/context.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>

#include "base/json/json.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

constexpr size_t kLatest = 4;          // messages at the end that stay whole
constexpr int64_t kWorthCutting = 60;  // tokens

void shorten_result(Message& message) {
  const std::string first = first_line(message.text).substr(0, 100);
  message.text = fmt::format("{}\n[{} bytes of this older result are left out: call the tool again to see it]",
                             valid_utf8(first), message.text.size());
}

// Long texts in arguments: the file that was written can be viewed.
void shorten_calls(Message& message) {
  for (ToolCall& call : message.calls) {
    Json json = try_parse_json(call.arguments);
    if (!json.is_object()) {
      if (estimate_tokens(call.arguments) > kWorthCutting) call.arguments = "{}";
      continue;
    }
    for (auto& [name, value] : json.items()) {
      if (!value.is_string() || estimate_tokens(value.get_ref<const std::string&>()) <= kWorthCutting) continue;
      value = fmt::format("[{} bytes left out: view the file]", value.get_ref<const std::string&>().size());
    }
    call.arguments = compact(json);
  }
}

// Keeps so many bytes of the beginning and of the end of a text that is much longer.
void shorten_long(Message& message, size_t kept) {
  const size_t bytes = message.text.size();
  if (bytes <= 4 * kept) return;
  message.text = fmt::format("{}\n[{} bytes left out]\n{}", valid_utf8(message.text.substr(0, kept)), bytes - 2 * kept,
                             valid_utf8(message.text.substr(bytes - kept)));
}

}  // namespace

std::optional<Conversation> fit_context(Conversation conversation, int64_t limit) {
  int64_t tokens = estimate_tokens(conversation);
  const size_t all = conversation.size(), old = all > kLatest ? all - kLatest : 0;
  const auto shorten = [&](size_t end, Role role, auto&& cut) {
    for (size_t i = 0; i < end && limit > 0 && tokens > limit; ++i) {
      Message& message = conversation[i];
      const int64_t before = estimate_tokens(message);
      if (message.role != role || before <= kWorthCutting) continue;
      cut(message);
      tokens += estimate_tokens(message) - before;
    }
  };
  shorten(old, Role::Tool, shorten_result);
  shorten(old, Role::Assistant, [](Message& message) {
    message.reasoning.clear();
    message.signature.clear();
  });
  shorten(old, Role::Assistant, shorten_calls);
  // Where calls stand in the text, so does what they wrote.
  shorten(old, Role::Assistant, [](Message& message) { shorten_long(message, 400); });
  // What takes a good part of the context by itself.
  for (const Role role : {Role::Assistant, Role::Tool})
    shorten(all, role, [](Message& message) { shorten_long(message, 4000); });
  if (limit > 0 && tokens > limit) return std::nullopt;
  return conversation;
}

}  // namespace passnet::agent
