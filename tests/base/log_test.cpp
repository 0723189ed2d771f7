#include "base/log.h"

#include <gtest/gtest.h>

#include <cstdlib>

namespace passnet {
namespace {

// The level is read at the first line of a process, so each case is a process of its own.
void log_all_levels() {
  log::debug("a stage");
  log::info("a sample");
  log::warn("weaker");
  log::error("act");
  std::_Exit(0);
}

TEST(LogDeathTest, ShowsInfoAndAboveOnStderrByDefault) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::unsetenv("PASSNET_LOG");
  EXPECT_EXIT(log_all_levels(), ::testing::ExitedWithCode(0), "^info: a sample\nwarning: weaker\nerror: act\n$");
}

TEST(LogDeathTest, FollowsPassnetLog) {
  GTEST_FLAG_SET(death_test_style, "threadsafe");
  ::setenv("PASSNET_LOG", "error", 1);
  EXPECT_EXIT(log_all_levels(), ::testing::ExitedWithCode(0), "^error: act\n$");
  ::setenv("PASSNET_LOG", "debug", 1);
  EXPECT_EXIT(log_all_levels(), ::testing::ExitedWithCode(0), "debug: a stage\n");
  ::setenv("PASSNET_LOG", "off", 1);
  EXPECT_EXIT(log_all_levels(), ::testing::ExitedWithCode(0), "^$");
}

}  // namespace
}  // namespace passnet
