#include "run/measure/clock_audit.h"

#include <gtest/gtest.h>

#include <limits>

namespace passnet::run {
namespace {

bool agree(const ClockReading& reading) { return !tells_too_much(reading) && !tells_too_little(reading); }

TEST(Clocks, AgreeWithinTheStatedBound) {
  EXPECT_TRUE(agree({1000, 1000}));
  EXPECT_TRUE(agree({1000, 1000 - kClockSlackUs}));
  EXPECT_TRUE(agree({10'000, 7'600}));
  EXPECT_TRUE(agree({7'600, 10'000}));
  EXPECT_TRUE(agree({0, 0}));
}

TEST(Clocks, DifferWhenOneTellsATenthAHalfOrTheDouble) {
  for (const double calls_us : {1000.0, 50'000.0}) {
    EXPECT_TRUE(tells_too_little({calls_us, calls_us / 10}));
    EXPECT_TRUE(tells_too_little({calls_us, calls_us / 2}));
    EXPECT_TRUE(tells_too_little({calls_us, -calls_us}));
    EXPECT_TRUE(tells_too_much({calls_us, 2 * calls_us}));
    for (const double no_number : {std::numeric_limits<double>::quiet_NaN(), std::numeric_limits<double>::infinity(),
                                   -std::numeric_limits<double>::infinity()})
      EXPECT_TRUE(tells_too_much({calls_us, no_number}));
  }
}

TEST(Clocks, AreComparedOverCallsThatTakeLongerThanTheSlack) {
  for (const double usual_us : {0.5, 3.0, 90.0, 1e5}) {
    const auto calls = audited_calls(usual_us, usual_us);
    EXPECT_GE(calls, 1);
    EXPECT_GE(static_cast<double>(calls) * usual_us, 5 * kClockSlackUs) << usual_us;
  }
  EXPECT_EQ(audited_calls(1e5, 1e5), 1);
}

TEST(Clocks, OfAWorkerThatSaysNothingTakesNoTimeKeepNobodyWaiting) {
  const auto most = audited_calls(0.5, 0.5);
  for (const double usual_us : {0.0, -1.0, 1e-12, std::numeric_limits<double>::quiet_NaN()}) {
    EXPECT_EQ(audited_calls(usual_us, 0.5), most) << usual_us;
    // The calls take long by our own clock.
    for (const double ours_us : {5e3, 2e5})
      EXPECT_LE(static_cast<double>(audited_calls(usual_us, ours_us)) * 4 * ours_us, kMostAuditUs) << ours_us;
    EXPECT_EQ(audited_calls(usual_us, 1e9), 1);
  }
}

// A request takes 100 us besides its calls. For 5 ms one waited before the calls, after them, or in them.
TEST(Clocks, AgreeHoweverLongAProcessWaitedForAProcessor) {
  EXPECT_TRUE(agree({6100, 1000, 5000}));
  EXPECT_TRUE(agree({6100, 6000, 5000}));
  EXPECT_TRUE(agree({11'100, 6000, 10'000}));  // one before and one in the calls
}

TEST(Clocks, ThatLieDifferHoweverLongAProcessWaited) {
  EXPECT_TRUE(tells_too_little({6100, 100, 5000}));
  EXPECT_TRUE(tells_too_little({6100, 600, 5000}));  // a tenth of calls in which it waited
  EXPECT_TRUE(tells_too_much({6100, 12'000, 5000}));
}

}  // namespace
}  // namespace passnet::run
