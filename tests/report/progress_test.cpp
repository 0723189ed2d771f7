#include "report/progress.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/text/columns.h"

namespace passnet::report {
namespace {

TEST(RenderProgress, ShowsShareTimesAndName) {
  EXPECT_EQ(render_progress(0, 4, "first", 0.2, 80), "[....................] 0/4  0 s  first");
  EXPECT_EQ(render_progress(1, 4, "second", 12, 80), "[#####...............] 1/4  12 s, 36 s left  second");
  EXPECT_EQ(render_progress(4, 4, "last", 48, 80), "[####################] 4/4  48 s  last");
  EXPECT_EQ(render_progress(1, 100, "g", 60, 80), "[....................] 1/100  60 s, 99 min left  g");
}

TEST(Progress, CountsWhereTheTotalIsNotKnown) {
  EXPECT_EQ(render_count(1234, "graphs", "a/b", 8, 80), "1234 graphs  8 s  154/s  a/b");
  EXPECT_EQ(render_count(0, "graphs", "", 0, 80), "0 graphs  0 s  0/s  ");
  EXPECT_EQ(render_count(1234, "graphs", "a/b", 8, 24), "1234 graphs  8 s  154/s");
}

TEST(Progress, TheCountLineSaysNothingWithoutATerminal) {
  ::testing::internal::CaptureStderr();
  {
    CountLine line("graphs", false);
    line.count("a");
  }
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
  ::testing::internal::CaptureStderr();
  {
    CountLine line("graphs", true);
    line.count("a");
    line.count("b");  // too soon to draw again
  }
  EXPECT_THAT(::testing::internal::GetCapturedStderr(),
              ::testing::MatchesRegex("\r.\\[K1 graphs  0 s  [0-9]+/s  a\r.\\[K"));
}

TEST(Progress, IsSilentWhenQuiet) {
  ::testing::internal::CaptureStderr();
  set_quiet(true);
  {
    ProgressBar bar(1);
    bar.start("a");
    bar.finish("a", "correct");
  }
  set_quiet(false);
  EXPECT_EQ(::testing::internal::GetCapturedStderr(), "");
}

TEST(RenderProgress, FitsAnyWidth) {
  for (int width = 0; width <= 120; ++width) {
    const std::string line = render_progress(3, 7, "a_rather_long_name/of_a_graph/with_µ/and\nmore", 5, width);
    EXPECT_LE(columns(line), static_cast<size_t>(std::max(width - 1, 0)));
    EXPECT_EQ(line.find('\n'), std::string::npos);
  }
}

TEST(RenderProgress, OfNothingIsDone) {
  EXPECT_EQ(render_progress(0, 0, "", 0, 60), "[####################] 0/0  0 s  ");
}

TEST(ProgressBar, RewritesOneLineOnATerminalAndClearsIt) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar(2, true);
    bar.start("one");
    bar.finish("one", "correct 2.00x");
  }
  const std::string text = testing::internal::GetCapturedStderr();
  EXPECT_EQ(text.find('\n'), std::string::npos);
  EXPECT_NE(text.find("\r\x1b[K[....................] 0/2"), std::string::npos) << text;
  EXPECT_NE(text.find("\r\x1b[K[##########..........] 1/2"), std::string::npos) << text;
  EXPECT_EQ(text.substr(text.size() - 4), "\r\x1b[K");
}

TEST(ProgressBar, LogsOneLinePerGraphElsewhere) {
  testing::internal::CaptureStderr();
  {
    ProgressBar bar(2, false);
    bar.start("one");
    bar.finish("one\x1b", "correct 2.00x");
  }
  EXPECT_EQ(testing::internal::GetCapturedStderr(), "info: 1/2 one\\x1b: correct 2.00x\n");
}

}  // namespace
}  // namespace passnet::report
