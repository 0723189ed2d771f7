#include "report/text.h"

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

TEST(EscapeHtml, LeavesNoMarkup) {
  EXPECT_EQ(escape_html("<a href=\"x\" b='y'>&amp;\x1b"), "&lt;a href=&quot;x&quot; b=&#39;y&#39;&gt;&amp;amp;\\x1b");
}

}  // namespace
}  // namespace passnet::report
