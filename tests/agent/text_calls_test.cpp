// Calls in plain text, in the forms of models and with what models put into them.
#include "agent/chat/text_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace passnet::agent {
namespace {

using testing::HasSubstr;
using testing::IsEmpty;

const std::vector<ToolSpec> kEditTools = {
    {"edit", "Edits.",
     R"({"type": "object", "properties": {"path": {"type": "string"}, "line": {"type": "integer"}, "range": {"type": "array"}, "all": {"type": "boolean"}}})"},
    {"submit", "Ends.", R"({"type": "object"})"}};

/// "NAME ARGUMENTS" of each call; "! PROBLEM" of one that cannot be made.
std::vector<std::string> calls(std::string_view text, bool cut = false) {
  std::vector<std::string> shown;
  for (const ToolCall& call : calls_in_text(text, kEditTools, cut).calls)
    shown.push_back(call.problem.empty() ? call.name + " " + call.arguments : "! " + call.problem);
  return shown;
}

using Calls = std::vector<std::string>;

TEST(TextCalls, TakeTheFormsOfModels) {
  for (const char* text : {
           "I look.\n```tool\n{\"name\": \"edit\", \"arguments\": {\"line\": 1}}\n```\nand",
           "```tool\r\n{\"name\": \"edit\", \"arguments\": {\"line\": 1}}\r\n```\r\n",
           "```tool\n{\"name\": \"edit\", \"arguments\": {\"line\": 1}}```\nI edit now.",
           "```tool {\"name\": \"edit\", \"arguments\": {\"line\": 1}}```",
           "```json\n{\"name\": \"edit\", \"arguments\": {\"line\": 1}}\n```\n",
           "```\n{\"name\": \"edit\", \"arguments\": \"{\\\"line\\\":1}\"}\n```\n",
           "<tool_call>\n{\"name\": \"edit\", \"parameters\": {\"line\": 1}}\n</tool_call>\n",
           "<tool_call>{\"name\": \"edit\", \"arguments\": {\"line\": 1}}",
           "<tool_call>{\"name\": \"edit\", \"arguments\": {\"line\": 1}</tool_call>",
           "<tool_call>{\"type\": \"function\", \"function\": {\"name\": \"edit\", \"arguments\": {\"line\": "
           "1}}}</tool_call>",
           "<tool_call>[{\"name\": \"edit\", \"arguments\": {\"line\": 1}}]</tool_call>",
           "<function=edit>\n<parameter=line>\n1\n</parameter>\n</function> done",
           "<tool_call>\n<function=edit>\n<parameter=line>\n1\n</parameter>\n</function>\n</tool_call>",
           "<tool_call>\n<function=edit>\n<parameter=line>1</parameter>\n</tool_call>",
           "<function=edit><parameter=line>1</parameter>",
           "<tool_call>edit\n<arg_key>line</arg_key>\n<arg_value>1</arg_value>\n</tool_call>",
           "<tool_call>edit<arg_key>line</arg_key><arg_value>1</arg_value></tool_call>",
       })
    EXPECT_EQ(calls(text), Calls{"edit {\"line\":1}"}) << text;
  for (const char* text : {"<function=submit>\n</function>", "<tool_call>submit</tool_call>", "<tool_call>submit\n",
                           "<tool_call>\n<function=submit>\n</function>\n</tool_call>",
                           "<tool_call>{\"name\": \"submit\"}</tool_call>", "```tool\n{\"name\": \"submit\"}\n```"})
    EXPECT_EQ(calls(text), Calls{"submit {}"}) << text;
}

TEST(TextCalls, ComeOneAfterTheOther) {
  EXPECT_EQ(
      calls("```tool\n{\"name\": \"submit\"}\n{\"name\": \"edit\"}\n```\n<tool_call>{\"name\": \"submit\"}</tool_call>"
            "<function=edit></function><tool_call>submit</tool_call>\n```tool\n{\"name\": \"edit\"}\n```"),
      (Calls{"submit {}", "edit {}", "submit {}", "edit {}", "submit {}", "edit {}"}));
}

TEST(TextCalls, ReadValuesByTheSchema) {
  EXPECT_EQ(
      calls("<function=edit>\n<parameter=path>\n12\n</parameter>\n  <parameter=line>3</parameter><parameter=range>[1, "
            "2]</parameter><parameter=all>True</parameter></function>"),
      Calls{"edit {\"path\":\"12\",\"line\":3,\"range\":[1,2],\"all\":true}"});
  EXPECT_EQ(calls("<function=edit><parameter=path>\r\na\r\nb\r\n\r\n</parameter></function>"),
            Calls{"edit {\"path\":\"a\\r\\nb\\r\\n\"}"});
  EXPECT_EQ(calls("<tool_call>edit<arg_key>path</arg_key><arg_value>a\n</arg_value></tool_call>"),
            Calls{"edit {\"path\":\"a\\n\"}"});
}

TEST(TextCalls, MayHoldTagsInTheirValues) {
  EXPECT_EQ(calls("<function=edit>\n<parameter=path>\n# </function> and <tool_call>, </think>\n# </parameter> "
                  "too\n</parameter>\n</function>"),
            Calls{"edit {\"path\":\"# </function> and <tool_call>, </think>\\n# </parameter> too\"}"});
  EXPECT_EQ(calls("<function=edit><parameter=path>\n</parameter>\n</function>\nx = "
                  "1\n</parameter>\n</function><function=submit></function>"),
            (Calls{"edit {\"path\":\"</parameter>\\n</function>\\nx = 1\"}", "submit {}"}));
  EXPECT_EQ(
      calls("<tool_call>edit<arg_key>path</arg_key><arg_value></tool_call> </arg_value>\n1</arg_value></tool_call>"),
      Calls{"edit {\"path\":\"</tool_call> </arg_value>\\n1\"}"});
  EXPECT_EQ(
      calls("<tool_call>{\"name\": \"edit\", \"arguments\": {\"path\": \"</tool_call> } \\\" ```\"}}</tool_call>"),
      Calls{"edit {\"path\":\"</tool_call> } \\\" ```\"}"});
  EXPECT_EQ(calls("```tool\n{\"name\": \"edit\", \"arguments\": {\"path\": \"\n```\n\"}}\n```"),
            Calls{"edit {\"path\":\"\\n```\\n\"}"});
}

TEST(TextCalls, AreNoneInsideThoughts) {
  EXPECT_EQ(
      calls("<think>\nShall I <tool_call>{\"name\": \"edit\"}</tool_call>?\n</think>\n<function=submit></function>"),
      Calls{"submit {}"});
  EXPECT_EQ(calls("I might <function=edit></function>\n</think>\n<function=submit></function>"), Calls{"submit {}"});
  EXPECT_THAT(calls("<think> <function=edit></function>"), IsEmpty());
}

TEST(TextCalls, AreNoneInWhatOnlySpeaksOfThem) {
  for (const char* text : {"no call, only `tool` and <function>", "write <function=NAME and more\n",
                           "a <tool_call> block", "```python\nx = {}\n```", "```json\n{\"name\": \"edit\"}\n```",
                           "```json\n{\"scores\": [1]}\n```", "``` {", "```"})
    EXPECT_THAT(calls(text), IsEmpty()) << text;
}

TEST(TextCalls, ThatCannotBeReadAreTold) {
  EXPECT_EQ(calls("<tool_call>{\"name\": \"edit\", oops}</tool_call><function=submit></function>"),
            (Calls{"! a call that cannot be read: found '{\"name\": \"edit\", oops}', expected {\"name\": \"NAME\", "
                   "\"arguments\": {…}}",
                   "submit {}"}));
  EXPECT_THAT(calls("<function=edit>ls -l</function>").at(0), HasSubstr("found 'ls -l', expected <parameter=KEY>"));
  EXPECT_EQ(calls("<tool_call>{\"arguments\": {}}</tool_call>"), Calls{"! the call has no name"});
}

TEST(TextCalls, ThatAreCutOffAreNotMadeAndLeaveTheText) {
  for (const char* text :
       {"```tool\n{\"name\": \"edit\", \"argu", "<tool_call>",
        "<tool_call>{\"name\": \"edit\", \"arguments\": {\"path\": \"a", "<tool_call>edi",
        "<function=", "<function=edit>\n<parameter=pa", "<function=edit><parameter=path>a </function> b",
        "<function=edit><parameter=line>1</parameter>", "<tool_call>edit\n<arg_key>path</arg_key>\n<arg_value>a"}) {
    const CallsInText found = calls_in_text(std::string("First. ") + text, kEditTools, true);
    ASSERT_EQ(found.calls.size(), 1u) << text;
    EXPECT_THAT(found.calls[0].problem, HasSubstr("the call was cut off")) << text;
    EXPECT_EQ(found.calls[0].arguments, "{}");
    EXPECT_EQ(found.text, "First. [a call that was cut off]");
  }
  EXPECT_EQ(calls_in_text("<function=submit></function>", kEditTools, true).text, "<function=submit></function>");
}

TEST(TextCalls, AreFoundInAnyTextWithoutEnd) {
  // Each prefix of each mixture is read to its end.
  const std::string mixed =
      "```tool\n{\"name\": \"edit\", \"arguments\": "
      "{}}\n```<think>x</think><tool_call>edit<arg_key>a</arg_key><arg_value>1"
      "</arg_value></tool_call><tool_call><function=edit><parameter=line>2</parameter></function></tool_call>[{\"";
  for (size_t begin = 0; begin < mixed.size(); begin += 7) {
    for (size_t size = 0; size <= mixed.size() - begin; ++size) {
      for (const bool cut : {false, true}) {
        for (const ToolCall& call : calls_in_text(std::string_view(mixed).substr(begin, size), kEditTools, cut).calls)
          EXPECT_TRUE(call.arguments.starts_with('{') && !call.name.empty());
      }
    }
  }
}

}  // namespace
}  // namespace passnet::agent
