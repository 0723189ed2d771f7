#include "record/score/interval.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include "example_records.h"
#include "record/score/score.h"
#include "record/stats.h"
#include "record/verdict.h"

namespace passnet::record {
namespace {

/// 20 blocks of 5 trials; block i takes `usual` times factor(i).
template <class Factor>
Timing timing_of(double usual, Factor factor) {
  Timing timing{25, {}};
  for (int block = 0; block < 20; ++block) {
    timing.blocks.push_back(5);
    for (int i = 0; i < 5; ++i) timing.trials_us.push_back(usual * factor(block) * (1 + 0.001 * i));
  }
  return timing;
}
Timing steady(double usual) {
  return timing_of(usual, [](int) { return 1.0; });
}

TEST(Interval, OfSteadyTimesIsTheSpreadOfProcesses) {
  const auto interval = ratio_interval(steady(20), steady(10));
  ASSERT_TRUE(interval.known());
  EXPECT_NEAR(interval.low, 2 / 1.02, 1e-9);
  EXPECT_NEAR(interval.high, 2 * 1.02, 1e-9);
}

TEST(Interval, DriftThatHitsBothSidesDoesNotWidenIt) {
  const auto drift = [](int block) { return 1 + 0.05 * block; };
  const auto interval = ratio_interval(timing_of(20, drift), timing_of(10, drift));
  ASSERT_TRUE(interval.known());
  EXPECT_NEAR(interval.high, 2 * 1.02, 1e-3);
}

TEST(Interval, NoiseOfOneSideWidensIt) {
  const auto interval = ratio_interval(steady(20), timing_of(10, [](int block) { return block % 2 == 0 ? 1.0 : 1.5; }));
  ASSERT_TRUE(interval.known());
  EXPECT_LT(interval.low, 1.4);
  EXPECT_GT(interval.high, 1.95);
}

TEST(Interval, AFewWildBlocksDoNotMatter) {
  const auto interval =
      ratio_interval(steady(20), timing_of(10, [](int block) { return block % 7 == 3 ? 30.0 : 1.0; }));
  ASSERT_TRUE(interval.known());
  EXPECT_NEAR(interval.low, 2 / 1.02, 1e-3);
  EXPECT_NEAR(interval.high, 2 * 1.02, 1e-3);
}

TEST(Interval, TimingsWithoutBlocksAreTakenInGroups) {
  Timing before = steady(20), after = steady(10);
  before.blocks.clear();
  after.blocks.clear();
  EXPECT_EQ(ratio_interval(before, after), ratio_interval(steady(20), steady(10)));
}

TEST(Interval, IsNoneWithoutBelievableTimes) {
  EXPECT_FALSE(ratio_interval(Timing{}, Timing{}).known());
  EXPECT_FALSE(ratio_interval(steady(20), Timing{25, {0.001}}).known());
  EXPECT_TRUE(ratio_interval(Timing{25, {2}}, Timing{25, {1}}).known());
}

RC_GTEST_PROP(Interval, HoldsTheRatioAndScalesWithIt, (const std::vector<uint16_t>& noise)) {
  RC_PRE(!noise.empty());
  Timing before{25, {}}, after{25, {}}, slower{25, {}};
  for (const uint16_t one : noise) {
    before.trials_us.push_back(10 + one % 7);
    after.trials_us.push_back(10 + one % 11);
    slower.trials_us.push_back(4 * after.trials_us.back());
  }
  const auto interval = ratio_interval(before, after), quarter = ratio_interval(before, slower);
  RC_ASSERT(interval.known() && quarter.known());
  const double ratio = summarize(before.trials_us).median / summarize(after.trials_us).median;
  RC_ASSERT(interval.contains(ratio));
  RC_ASSERT(std::abs(quarter.low - interval.low / 4) < 1e-9);
  RC_ASSERT(std::abs(quarter.high - interval.high / 4) < 1e-9);
}

TEST(Disturbed, HasNoSpeedupAndCountsInNoScore) {
  RunRecord good = record_of("good", 2, {output_of("float32", -6)}), bad = good;
  bad.disturbed = true;
  EXPECT_TRUE(speedup_interval(good).known());
  EXPECT_FALSE(speedup_interval(bad).known());
  EXPECT_EQ(judge(bad), (Verdict{Status::Correct, -6, 0}));
  EXPECT_EQ(headline(bad), "correct");
  EXPECT_TRUE(is_unmeasured(bad));
  EXPECT_EQ(judge_all({good, bad}).size(), 1u);
}

TEST(Disturbed, DoesNotHideAWrongResult) {
  RunRecord record = record_of("wrong", 2, {output_of("float32", 6)});
  record.disturbed = true;
  EXPECT_FALSE(is_unmeasured(record));
  EXPECT_EQ(judge_all({record}).size(), 1u);
}

}  // namespace
}  // namespace passnet::record
