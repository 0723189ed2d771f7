#include "run/clock_audit.h"

#include <gtest/gtest.h>

#include <limits>

namespace passnet::run {
namespace {

TEST(Clocks, AgreeWithinTheStatedBound) {
  EXPECT_TRUE(clocks_agree(1000, 1000));
  EXPECT_TRUE(clocks_agree(1000, 1000 - kClockSlackUs));
  EXPECT_TRUE(clocks_agree(10'000, 7'600));
  EXPECT_TRUE(clocks_agree(7'600, 10'000));
  EXPECT_TRUE(clocks_agree(0, 0));
}

TEST(Clocks, DifferWhenOneTellsATenthAHalfOrTheDouble) {
  for (const double calls_us : {1000.0, 50'000.0}) {
    EXPECT_FALSE(clocks_agree(calls_us, calls_us / 10));
    EXPECT_FALSE(clocks_agree(calls_us, calls_us / 2));
    EXPECT_FALSE(clocks_agree(calls_us, 2 * calls_us));
    EXPECT_FALSE(clocks_agree(calls_us, -calls_us));
    EXPECT_FALSE(clocks_agree(calls_us, std::numeric_limits<double>::quiet_NaN()));
    EXPECT_FALSE(clocks_agree(calls_us, std::numeric_limits<double>::infinity()));
  }
}

TEST(Clocks, AreComparedOverCallsThatTakeLongerThanTheSlack) {
  for (const double usual_us : {0.5, 3.0, 90.0, 1e5}) {
    const auto calls = audited_calls(usual_us);
    EXPECT_GE(calls, 1);
    EXPECT_GE(static_cast<double>(calls) * usual_us, 5 * kClockSlackUs) << usual_us;
  }
  EXPECT_EQ(audited_calls(1e5), 1);
}

TEST(Clocks, OfAWorkerThatSaysNothingTakesNoTimeKeepNobodyWaiting) {
  const auto most = audited_calls(0.5);
  for (const double usual_us : {0.0, -1.0, 1e-12, std::numeric_limits<double>::quiet_NaN()})
    EXPECT_EQ(audited_calls(usual_us), most) << usual_us;
}

TEST(Clocks, AreJudgedByTheMedianSoThatOneDisturbanceDecidesNothing) {
  const ClockComparison middle = median_of({{1000, 990, 1010}, {1e6, 1000, 1000}, {1010, -5e5, 1020}});
  EXPECT_EQ(middle.ours_us, 1010);
  EXPECT_EQ(middle.worker_us, 990);
  EXPECT_EQ(middle.device_us, 1010);
  EXPECT_FALSE(median_of({{1, 1, 1}, {1, 1, std::nullopt}, {1, 1, 1}}).device_us);
}

}  // namespace
}  // namespace passnet::run
