#include "record/stats.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "base/check.h"

namespace passnet::record {
namespace {

TEST(Stats, ReproducesUpstreamsVectors) {
  const Stats quiet = summarize(std::vector<double>{1, 2, 2.1, 2, 1.9});
  EXPECT_EQ(round6(quiet.median), 2);
  EXPECT_EQ(round6(quiet.iqr), 0.1);
  EXPECT_EQ(round6(quiet.mean), 1.8);
  EXPECT_EQ(round6(quiet.std), 0.404969);
  EXPECT_EQ(round6(quiet.min), 1);
  EXPECT_EQ(round6(quiet.max), 2.1);

  const Stats real = summarize(std::vector<double>{3.51715, 3.35526, 3.17454, 3.18241, 3.16024});
  EXPECT_EQ(round6(real.median), 3.18241);
  EXPECT_EQ(round6(real.iqr), 0.18072);
  EXPECT_EQ(round6(real.mean), 3.27792);
  EXPECT_EQ(round6(real.std), 0.139191);
}

TEST(Stats, CallsAWideQuartileRangeNoisy) {
  const Stats noisy = summarize(std::vector<double>{1, 2, 3, 4, 5});
  EXPECT_NEAR(noisy.noise(), 0.667, 5e-4);
  EXPECT_GT(noisy.noise(), kNoisy);
  EXPECT_LT(summarize(std::vector<double>{1, 2, 2.1, 2, 1.9}).noise(), kNoisy);
}

TEST(Stats, InterpolatesBetweenRanks) {
  const Stats stats = summarize(std::vector<double>{4, 1, 3, 2});
  EXPECT_DOUBLE_EQ(stats.q1, 1.75);
  EXPECT_DOUBLE_EQ(stats.median, 2.5);
  EXPECT_DOUBLE_EQ(stats.q3, 3.25);
}

TEST(Stats, OfNothingIsZeroAndOfOneIsThatOne) {
  EXPECT_EQ(summarize({}).median, 0);
  EXPECT_EQ(summarize({}).noise(), 0);
  const Stats one = summarize(std::vector<double>{7});
  EXPECT_EQ(one.q1, 7);
  EXPECT_EQ(one.max, 7);
  EXPECT_EQ(one.std, 0);
}

TEST(Stats, AreNanWhenASampleIsNot) {
  EXPECT_TRUE(std::isnan(summarize(std::vector<double>{1, NAN, 2}).median));
  EXPECT_TRUE(std::isnan(summarize(std::vector<double>{1, INFINITY}).min));
}

TEST(Round6, KeepsSixSignificantDigits) {
  EXPECT_EQ(round6(1234567.89), 1234570);
  EXPECT_EQ(round6(0.00012345678), 0.000123457);
  EXPECT_EQ(round6(-2), -2);
  EXPECT_EQ(round6(0), 0);
  EXPECT_TRUE(std::isnan(round6(NAN)));
  EXPECT_EQ(round6(INFINITY), INFINITY);
}

TEST(GeometricMean, IsOneForNothingAndRefusesWhatHasNoLogarithm) {
  EXPECT_EQ(geometric_mean({}), 1);
  EXPECT_DOUBLE_EQ(geometric_mean(std::vector<double>{2, 8}), 4);
  EXPECT_THROW(geometric_mean(std::vector<double>{1, 0}), InternalError);
  EXPECT_THROW(geometric_mean(std::vector<double>{-1}), InternalError);
}

RC_GTEST_PROP(Stats, OrderOfSamplesDoesNotMatterAndQuartilesAreOrdered, ()) {
  auto samples = *rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(1, 1'000'000), [](int us) { return us / 100.0; })));
  const Stats stats = summarize(samples);
  std::reverse(samples.begin(), samples.end());
  const Stats reversed = summarize(samples);
  RC_ASSERT(stats.median == reversed.median);
  RC_ASSERT(stats.std == reversed.std);
  RC_ASSERT(stats.min <= stats.q1);
  RC_ASSERT(stats.q1 <= stats.median);
  RC_ASSERT(stats.median <= stats.q3);
  RC_ASSERT(stats.q3 <= stats.max);
}

}  // namespace
}  // namespace passnet::record
