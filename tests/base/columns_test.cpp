#include "base/text/columns.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace passnet {
namespace {

TEST(Columns, CountsCharactersNotBytes) {
  EXPECT_EQ(columns(""), 0u);
  EXPECT_EQ(columns("µs∑"), 3u);
}

TEST(ShortenMiddle, KeepsBothEnds) {
  EXPECT_EQ(shorten_middle("abcdefghij", 10), "abcdefghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 9), "abcd…ghij");
  EXPECT_EQ(shorten_middle("abcdefghij", 4), "ab…j");
  EXPECT_EQ(shorten_middle("abcdefghij", 1), "…");
  EXPECT_EQ(shorten_middle("µµµµµµ", 5), "µµ…µµ");
}

TEST(Wrap, BreaksAtSpacesAndIndentsWhatGoesOn) {
  EXPECT_THAT(wrap("one two three four", 9), testing::ElementsAre("one two", "  three", "  four"));
  EXPECT_THAT(wrap("a\n  indented words here", 13), testing::ElementsAre("a", "  indented", "    words", "    here"));
  EXPECT_THAT(wrap("unbreakablylongword x", 5), testing::ElementsAre("unbreakablylongword", "  x"));
  EXPECT_THAT(wrap("", 10), testing::ElementsAre(""));
}

TEST(Wrap, LeavesShortLinesAsTheyAre) {
  const std::string drawing = "   14 |   x = y;\n      |       ^~~~";
  EXPECT_THAT(wrap(drawing, 40), testing::ElementsAre("   14 |   x = y;", "      |       ^~~~"));
}

}  // namespace
}  // namespace passnet
