// Calls in plain text.
#include "agent/chat/text_tools.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

namespace passnet::agent {
namespace {

using testing::HasSubstr;

const std::vector<ToolSpec> kTools = {
    {"edit", "Edits.",
     R"({"type": "object", "properties": {"path": {"type": "string"}, "line": {"type": "integer"}, "range": {"type": "array"}}})"}};

TEST(TextTools, TellsOfToolsAndResults) {
  EXPECT_THAT(describe_in_text(kTools), HasSubstr("## edit\nEdits.\nArguments, as a JSON schema: {"));
  Message answer{Role::Assistant, "text"}, one{Role::Tool, "1"}, two{Role::Tool, "2"};
  answer.calls = {{"a", "edit", "{}"}};
  one.tool = two.tool = "edit";
  two.is_error = true;
  const Conversation plain = without_tools({{Role::User, "task"}, answer, one, two, {Role::User, "go on"}});
  ASSERT_EQ(plain.size(), 3u);
  EXPECT_TRUE(plain[1].calls.empty());
  EXPECT_EQ(plain[2].role, Role::User);
  EXPECT_EQ(plain[2].text, "Result of edit:\n1\n\nResult of edit (an error):\n2\n\ngo on");
}

}  // namespace
}  // namespace passnet::agent
