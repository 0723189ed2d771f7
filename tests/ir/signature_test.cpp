// The grammar of signatures, and which parameter each argument of a call is given to.
#include "ir/ops/signature.h"

#include <gtest/gtest.h>

#include <string>

namespace passnet::ir {
namespace {

TEST(Signature, ReadsEveryPartOfAParameter) {
  const auto slots =
      parse_signature("input, *size%create, kernel@window:i2=3, ~_level=0, !inplace=True, dtype?, dims=(0, 1)");
  ASSERT_EQ(slots.size(), 7u);
  EXPECT_TRUE(slots[0].required);
  EXPECT_TRUE(slots[1].variadic);
  EXPECT_EQ(slots[1].role, Role::Create);
  EXPECT_EQ(slots[2].name, "kernel");
  EXPECT_EQ(slots[2].call_name, "window");
  EXPECT_EQ(slots[2].kind, ParameterKind::Ints);
  EXPECT_EQ(slots[2].length, 2);
  EXPECT_EQ(slots[2].value.value.integer, 3);
  EXPECT_EQ(slots[3].canonical, Slot::kIgnored);
  EXPECT_TRUE(slots[4].fixed);
  EXPECT_EQ(slots[5].name, "dtype");
  EXPECT_FALSE(slots[5].required);
  EXPECT_TRUE(slots[5].default_text.empty());
  EXPECT_EQ(slots[6].default_text, "(0, 1)");
  EXPECT_EQ(slots[6].value.elements.size(), 2u);
}

TEST(Signature, TakesOnlyKeywordsBehindAStar) {
  for (const char* text : {"a, *, b", "*a, b"}) {
    const auto slots = parse_signature(text);
    ASSERT_EQ(slots.size(), 2u);
    EXPECT_FALSE(slots[0].keyword_only);
    EXPECT_TRUE(slots[1].keyword_only);
  }
}

/// "0 1 1" for the places that the arguments are given to, or what is wrong: "Missing 1".
std::string bound(std::string_view signature, size_t positional, const std::vector<std::string_view>& keywords = {},
                  std::string_view (*alias)(std::string_view) = nullptr) {
  static constexpr const char* kReasons[] = {"TooMany", "Unknown", "Twice", "Missing"};
  const auto slots = parse_signature(signature);
  const Assignment made = bind_arguments(slots, positional, keywords, alias);
  if (made.misfit)
    return std::string(kReasons[static_cast<size_t>(made.misfit->reason)]) + " " + std::to_string(made.misfit->place);
  std::string text;
  for (const uint16_t slot : made.slots) text += (text.empty() ? "" : " ") + std::to_string(slot);
  return text;
}

TEST(Signature, BindsAsPythonDoes) {
  EXPECT_EQ(bound("a, b=1, c=2", 1), "0");
  EXPECT_EQ(bound("a, b=1, c=2", 1, {"c", "b"}), "0 2 1");
  EXPECT_EQ(bound("a, *rest, c=2", 3, {"c"}), "0 1 1 2");
  EXPECT_EQ(bound("a, *rest", 1), "0");
  EXPECT_EQ(bound("a, !b=1, c", 2), "0 2");
  EXPECT_EQ(bound("a@x, b", 0, {"b", "x"}), "1 0");
}

TEST(Signature, SaysWhyArgumentsDoNotFit) {
  EXPECT_EQ(bound("a, b=1", 3), "TooMany 2");
  EXPECT_EQ(bound("a, *, b=1", 2), "TooMany 1");
  EXPECT_EQ(bound("a, b=1", 1, {"b", "z"}), "Unknown 1");
  EXPECT_EQ(bound("a, !b=1", 1, {"b"}), "Unknown 0");
  EXPECT_EQ(bound("a, b=1", 1, {"a"}), "Twice 0");
  EXPECT_EQ(bound("a, b", 1), "Missing 1");
}

TEST(Signature, LooksForAnotherNameOfAKeyword) {
  const auto alias = [](std::string_view keyword) -> std::string_view { return keyword == "axis" ? "dim" : ""; };
  EXPECT_EQ(bound("input, dim", 1, {"axis"}, alias), "0 1");
  EXPECT_EQ(bound("input, axis, dim=1", 1, {"axis"}, alias), "0 1");
  EXPECT_EQ(bound("input, dim", 1, {"axes"}, alias), "Unknown 0");
}

}  // namespace
}  // namespace passnet::ir
