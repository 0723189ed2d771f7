#include "agent/tools/tool.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <nlohmann/json.hpp>
#include <utility>

#include "agent/chat/calls.h"
#include "base/text/strings.h"

namespace passnet::agent {

namespace {

using Spelling = std::pair<std::string_view, std::string_view>;  // elsewhere, here
constexpr std::array<Spelling, 9> kToolNames = {{{"str_replace_editor", "file_editor"},
                                                 {"str_replace_based_edit_tool", "file_editor"},
                                                 {"editor", "file_editor"},
                                                 {"evaluate", "pass_evaluator"},
                                                 {"evaluate_pass", "pass_evaluator"},
                                                 {"pass_eval", "pass_evaluator"},
                                                 {"match", "pass_match"},
                                                 {"finish", "submit"},
                                                 {"done", "submit"}}};
constexpr std::array<Spelling, 7> kArguments = {{{"file_path", "path"},
                                                 {"filename", "path"},
                                                 {"content", "file_text"},
                                                 {"contents", "file_text"},
                                                 {"old_string", "old_str"},
                                                 {"new_string", "new_str"},
                                                 {"line", "insert_line"}}};

template <size_t kCount>
std::string ours(std::string_view word, const std::array<Spelling, kCount>& spellings) {
  for (const auto& [elsewhere, here] : spellings) {
    if (word == elsewhere) return std::string(here);
  }
  return std::string(word);
}

Json renamed(const Json& arguments) {
  Json json = Json::object();
  for (const auto& [name, value] : arguments.items()) {
    const std::string here = ours(name, kArguments);
    json[here == name || arguments.contains(here) ? name : here] = value;
  }
  return json;
}

ToolResult unknown(const std::string& name, const std::vector<Tool>& tools) {
  std::vector<std::string_view> names;
  std::vector<std::string> listed;
  for (const Tool& tool : tools) names.push_back(tool.spec.name), listed.push_back(tool.spec.name);
  const std::string_view near = nearest_name(name, names);
  Error error = bad_input(fmt::format("there is no tool {}", quoted(name)));
  error.hint =
      near.empty() ? fmt::format("the tools are {}", join(listed, ", ")) : fmt::format("did you mean '{}'?", near);
  return refused(error);
}

}  // namespace

ToolResult refused(const Error& error) { return {to_string(error), true}; }

std::vector<Tool> pass_tools() {
  return {file_editor(), pass_match(), pass_evaluator(), pass_explain(), graph_info(), submit()};
}

std::vector<ToolSpec> specs_of(const std::vector<Tool>& tools) {
  std::vector<ToolSpec> specs;
  for (const Tool& tool : tools) specs.push_back(tool.spec);
  return specs;
}

Result<ToolResult> call_tool(const std::vector<Tool>& tools, const ToolCall& call, ToolContext& context) {
  if (!call.problem.empty()) return refused(bad_input(call.problem));
  const ToolCall made = read_call(call.id, call.name, call.arguments, false);
  const auto tool =
      std::ranges::find(tools, ours(made.name, kToolNames), [](const Tool& one) { return one.spec.name; });
  if (tool == tools.end()) return unknown(call.name, tools);
  if (!made.problem.empty()) return refused(bad_input(made.problem));
  Result<ToolResult> result = tool->run(renamed(try_parse_json(made.arguments)), context);
  // What the model can mend goes back to it.
  if (!result && result.error().kind != Error::Kind::Resource && result.error().kind != Error::Kind::Io)
    return refused(result.error());
  return result;
}

Tool submit() {
  return {
      {"submit",
       "Ends the attempt. What counts is the best result that pass_evaluator has measured; leaving the graphs as they "
       "are (no pass) is worth 1.0.",
       R"({"type": "object", "properties": {}})"},
      [](const Json&, ToolContext&) -> Result<ToolResult> {
        return ToolResult{"submitted", false, {}, true};
      }};
}

}  // namespace passnet::agent
