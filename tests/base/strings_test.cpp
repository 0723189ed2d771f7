#include "base/text/strings.h"

#include <gmock/gmock.h>
#include <rapidcheck/gtest.h>

namespace passnet {
namespace {

using ::testing::ElementsAre;
using namespace std::string_view_literals;

TEST(Locate, CountsLinesAndColumnsFromOneInBytes) {
  const std::string_view text = "ab\ncd\n\nü!";
  EXPECT_EQ(locate("f", text, 0), (SourceLoc{"f", 1, 1}));
  EXPECT_EQ(locate("f", text, 2), (SourceLoc{"f", 1, 3}));  // the newline ends its own line
  EXPECT_EQ(locate("f", text, 3), (SourceLoc{"f", 2, 1}));
  EXPECT_EQ(locate("f", text, 6), (SourceLoc{"f", 3, 1}));
  EXPECT_EQ(locate("f", text, 9), (SourceLoc{"f", 4, 3}));
  EXPECT_EQ(locate("f", text, 1000), (SourceLoc{"f", 4, 4}));
}

TEST(IsIdentifier, TakesNamesOfAscii) {
  for (const std::string_view name : {"a", "_", "A9_z", "__x"}) EXPECT_TRUE(is_identifier(name)) << name;
  for (const std::string_view text : {"", "9a", "a-b", "a b", "\xc3\xa9", "a\n"})
    EXPECT_FALSE(is_identifier(text)) << text;
}

TEST(EditDistance, CountsInsertionsDeletionsAndSubstitutions) {
  EXPECT_EQ(edit_distance("", "", 5), 0u);
  EXPECT_EQ(edit_distance("relu", "relu", 5), 0u);
  EXPECT_EQ(edit_distance("gelo", "gelu", 5), 1u);
  EXPECT_EQ(edit_distance("kitten", "sitting", 5), 3u);
  EXPECT_EQ(edit_distance("", "abc", 5), 3u);
}

TEST(EditDistance, StopsAtItsLimit) {
  EXPECT_EQ(edit_distance("kitten", "sitting", 2), 3u);
  EXPECT_EQ(edit_distance("a", "abcdefgh", 2), 3u);
}

RC_GTEST_PROP(EditDistance, IsAMetric, (const std::string& a, const std::string& b, const std::string& c)) {
  const size_t far = a.size() + b.size() + c.size() + 1;
  RC_ASSERT((edit_distance(a, b, far) == 0) == (a == b));
  RC_ASSERT(edit_distance(a, b, far) == edit_distance(b, a, far));
  RC_ASSERT(edit_distance(a, c, far) <= edit_distance(a, b, far) + edit_distance(b, c, far));
}

RC_GTEST_PROP(EditDistance, LimitOnlyCutsItOff, (const std::string& a, const std::string& b)) {
  const size_t exact = edit_distance(a, b, a.size() + b.size());
  for (size_t limit = 0; limit < 6; ++limit) RC_ASSERT(edit_distance(a, b, limit) == std::min(exact, limit + 1));
}

TEST(NearestName, SuggestsOnlyWhatIsNearEnough) {
  const std::vector<std::string_view> names = {"torch.relu", "torch.nn.functional.gelu", "torch.nn.functional.silu"};
  EXPECT_EQ(nearest_name("torch.nn.functional.gelo", names), "torch.nn.functional.gelu");
  EXPECT_EQ(nearest_name("torch.rel", names), "torch.relu");
  EXPECT_EQ(nearest_name("numpy.fft.rfft", names), "");
  EXPECT_EQ(nearest_name("x", {}), "");
}

TEST(NearestName, PrefersACommonBeginning) {
  const std::vector<std::string_view> names = {"resnet101", "resnet18", "resnet2018"};
  EXPECT_EQ(nearest_name("resnet1818", names), "resnet18");
  EXPECT_EQ(nearest_name("resnet101", names), "resnet101");
}

TEST(Quoted, EscapesControlBytesAndCutsLongText) {
  EXPECT_EQ(quoted("abc"sv), "'abc'");
  EXPECT_EQ(quoted("a\n\t\x1b[31m\x7f"sv), "'a\\n\\t\\x1b[31m\\x7f'");
  EXPECT_EQ(quoted("abcdef"sv, 3), "'abc…'");
  EXPECT_EQ(quoted("abc"sv, 3), "'abc'");
}

TEST(Split, KeepsEmptyParts) {
  EXPECT_THAT(split("a,,b,", ','), ElementsAre("a", "", "b", ""));
  EXPECT_THAT(split("", ','), ElementsAre(""));
}

RC_GTEST_PROP(Split, JoinGivesTheTextBack, (const std::string& text)) {
  std::vector<std::string> parts;
  for (const std::string_view part : split(text, ',')) parts.emplace_back(part);
  RC_ASSERT(join(parts, ",") == text);
}

TEST(Trim, RemovesBlanksAtBothEndsOnly) {
  EXPECT_EQ(trim(" \t a b\r\n"), "a b");
  EXPECT_EQ(trim(" \n"), "");
}

}  // namespace
}  // namespace passnet
