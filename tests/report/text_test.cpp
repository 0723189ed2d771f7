#include "report/text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace passnet::report {
namespace {

TEST(Visible, ShowsWhatATerminalWouldObey) {
  EXPECT_EQ(visible("a\x1b[2Jb\r\n\tc\x7f"), "a\\x1b[2Jb\\x0d\n  c\\x7f");
  EXPECT_EQ(visible("\xc2\x9b"
                    "31m"),
            "\\x9b31m");  // C1 control: another escape
  EXPECT_EQ(visible("abc\xe2\x80\xae"
                    "def"),
            "abc\\u202edef");  // right-to-left override
  EXPECT_EQ(visible("bad \xff byte"), "bad \xef\xbf\xbd byte");
  EXPECT_EQ(visible("µs ∑ 𝛼"), "µs ∑ 𝛼");
}

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

TEST(EscapeHtml, LeavesNoMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\" b='y'>&amp;\x1b"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;\\x1b");
}

}  // namespace
}  // namespace passnet::report
