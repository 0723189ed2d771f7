#include "agent/chat/text_tools.h"

#include <fmt/format.h>

#include <utility>

namespace passnet::agent {

std::string describe_in_text(const std::vector<ToolSpec>& tools) {
  std::string text =
      "# Tools\n\nCall a tool by a block of this form, with JSON in it; several blocks are called one after the "
      "other:\n\n"
      "```tool\n{\"name\": \"NAME\", \"arguments\": {…}}\n```\n\nThe results come with the next message.\n";
  for (const ToolSpec& tool : tools)
    text += fmt::format("\n## {}\n{}\nArguments, as a JSON schema: {}\n", tool.name, tool.description, tool.schema);
  return text;
}

Conversation without_tools(const Conversation& conversation) {
  Conversation plain;
  bool after_result = false;
  for (Message message : conversation) {
    const bool is_result = message.role == Role::Tool;
    if (is_result) {
      message.text =
          fmt::format("Result of {}{}:\n{}", message.tool, message.is_error ? " (an error)" : "", message.text);
      message.role = Role::User;
      message.call_id.clear();
      message.tool.clear();
      message.is_error = false;
    }
    message.calls.clear();
    // Chat templates want the roles to alternate.
    if (after_result && message.role == Role::User)
      plain.back().text += "\n\n" + message.text;
    else
      plain.push_back(std::move(message));
    after_result = is_result || (after_result && plain.back().role == Role::User);
  }
  return plain;
}

}  // namespace passnet::agent
