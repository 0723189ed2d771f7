#include "run/clock_audit.h"

#include <gtest/gtest.h>

#include <limits>

namespace passnet::run {
namespace {

TEST(Clocks, AgreeWithinTheStatedBound) {
  EXPECT_TRUE(clocks_agree({1000, 1000}));
  EXPECT_TRUE(clocks_agree({1000, 1000 - kClockSlackUs}));
  EXPECT_TRUE(clocks_agree({10'000, 7'600}));
  EXPECT_TRUE(clocks_agree({7'600, 10'000}));
  EXPECT_TRUE(clocks_agree({0, 0}));
}

TEST(Clocks, DifferWhenOneTellsATenthAHalfOrTheDouble) {
  for (const double calls_us : {1000.0, 50'000.0}) {
    EXPECT_FALSE(clocks_agree({calls_us, calls_us / 10}));
    EXPECT_FALSE(clocks_agree({calls_us, calls_us / 2}));
    EXPECT_FALSE(clocks_agree({calls_us, 2 * calls_us}));
    EXPECT_FALSE(clocks_agree({calls_us, -calls_us}));
    EXPECT_FALSE(clocks_agree({calls_us, std::numeric_limits<double>::quiet_NaN()}));
    EXPECT_FALSE(clocks_agree({calls_us, std::numeric_limits<double>::infinity()}));
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

TEST(Clocks, AreReadWhereTheMachineDisturbedLeast) {
  // Requests take 100 us; one of each was disturbed by 5 ms outside of the calls, one by 3 ms inside.
  const ClockReading more = more_calls({{6100, 1000}, {1102, 1000}, {4110, 4000}}, {{2100, 2000}, {7150, 2000}});
  EXPECT_EQ(more.ours_us, 998);
  EXPECT_EQ(more.other_us, 1000);
  EXPECT_TRUE(clocks_agree(more));
}

TEST(Clocks, ThatLieDifferHoweverTheMachineIsDisturbed) {
  for (const double lie : {0.1, 0.5, 2.0, 10.0}) {
    const auto reading = [&](double calls_us, double besides_us) {
      return ClockReading{calls_us + besides_us, lie * calls_us};
    };
    const ClockReading more = more_calls({reading(1000, 100), reading(1400, 5000), reading(1010, 80)},
                                         {reading(2000, 90), reading(2020, 3000), reading(2900, 95)});
    EXPECT_FALSE(clocks_agree(more)) << lie;
  }
}

}  // namespace
}  // namespace passnet::run
