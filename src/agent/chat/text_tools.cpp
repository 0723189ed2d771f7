#include "agent/chat/text_tools.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>

#include "agent/chat/json_access.h"
#include "base/strings.h"

namespace passnet::agent {

namespace {

struct Form {
  std::string_view begin, end;
};
constexpr Form kForms[] = {{"```tool\n", "\n```"}, {"<tool_call>", "</tool_call>"}, {"<function=", "</function>"}};

ToolCall json_call(std::string_view body) {
  const Json json = try_parse_json(body);
  const Json& arguments = member(json, "arguments").is_null() ? member(json, "parameters") : member(json, "arguments");
  ToolCall call;
  call.name = text_of(member(json, "name"));
  if (arguments.is_string())
    call.arguments = arguments.get<std::string>();
  else if (!arguments.is_null())
    call.arguments = compact(arguments);
  else
    call.arguments = json.is_object() ? "{}" : std::string(trim(body));
  return call;
}

// What the tool's schema says of a parameter: "string", "integer", …
std::string type_of(const std::vector<ToolSpec>& tools, std::string_view tool, std::string_view parameter) {
  const auto found = std::ranges::find(tools, tool, &ToolSpec::name);
  if (found == tools.end()) return "";
  const Json schema = try_parse_json(found->schema);
  return text_of(member(member(member(schema, "properties"), parameter), "type"));
}

// One line break after the tag and one before its end are layout.
std::string_view without_layout(std::string_view value) {
  if (value.starts_with('\n')) value.remove_prefix(1);
  if (value.ends_with('\n')) value.remove_suffix(1);
  return value;
}

ToolCall tagged_call(std::string_view body, const std::vector<ToolSpec>& tools) {
  ToolCall call;
  const size_t end = body.find('>');
  call.name = std::string(trim(body.substr(0, end)));
  Json arguments = Json::object();
  constexpr std::string_view kBegin = "<parameter=", kEnd = "</parameter>";
  size_t at = body.find(kBegin, end == std::string_view::npos ? body.size() : end);
  while (at != std::string_view::npos) {
    const size_t name = at + kBegin.size(), name_end = body.find('>', name);
    if (name_end == std::string_view::npos) break;
    const std::string key(trim(body.substr(name, name_end - name)));
    const size_t stop = std::min(body.find(kEnd, name_end), body.size());
    const std::string_view value = without_layout(body.substr(name_end + 1, stop - name_end - 1));
    const std::string type = type_of(tools, call.name, key);
    Json read = type.empty() || type == "string" ? Json() : try_parse_json(trim(value));
    const bool is_text = read.is_null() || read.is_discarded();
    arguments[key] = is_text ? Json(std::string(value)) : std::move(read);
    at = body.find(kBegin, stop);
  }
  call.arguments = compact(arguments);
  return call;
}

}  // namespace

std::string describe_in_text(const std::vector<ToolSpec>& tools) {
  std::string text =
      "# Tools\n\nCall a tool by a block of this form, with JSON in it; several blocks are called one after the "
      "other:\n\n"
      "```tool\n{\"name\": \"NAME\", \"arguments\": {…}}\n```\n\nThe results come with the next message.\n";
  for (const ToolSpec& tool : tools)
    text += fmt::format("\n## {}\n{}\nArguments, as a JSON schema: {}\n", tool.name, tool.description, tool.schema);
  return text;
}

std::vector<ToolCall> calls_in_text(std::string_view text, const std::vector<ToolSpec>& tools) {
  std::vector<ToolCall> calls;
  size_t at = 0;
  while (at < text.size()) {
    const Form* form = nullptr;
    size_t first = text.size();
    for (const Form& one : kForms) {
      if (const size_t found = text.find(one.begin, at); found < first) first = found, form = &one;
    }
    if (form == nullptr) break;
    const size_t body = first + form->begin.size();
    const size_t end = text.find(form->end, body);
    const std::string_view inside = text.substr(body, end == std::string_view::npos ? end : end - body);
    calls.push_back(form == &kForms[2] ? tagged_call(inside, tools) : json_call(inside));
    calls.back().id = fmt::format("call_{}", calls.size());
    if (end == std::string_view::npos) break;
    at = end + form->end.size();
  }
  return calls;
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
