#include "bench/interval.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <random>

#include "bench/verdict.h"
#include "example_records.h"

namespace passnet::bench {
namespace {

RunRecord timed(std::vector<double> reference, std::vector<double> candidate) {
  RunRecord record = record_of("g", 1, {output_of("float32", -10)});
  record.reference = {25, std::move(reference)};
  record.candidate = {25, std::move(candidate)};
  return record;
}

/// Times about `median` with a tail to the right, as calls have; equal on every machine.
std::vector<double> times_about(double median, size_t count, std::mt19937_64& random) {
  std::vector<double> times;
  for (size_t i = 0; i < count; ++i) {
    const double uniform = (double(random() >> 11) + 0.5) / 9007199254740992.0;
    times.push_back(median * (0.95 - 0.07 * std::log(uniform)));  // the median of -log(uniform) is 0.69
  }
  return times;
}

rc::Gen<std::vector<double>> any_times() {
  return rc::gen::nonEmpty(rc::gen::container<std::vector<double>>(
      rc::gen::map(rc::gen::inRange(1, 1'000'000), [](int value) { return value / 997.0 + 0.5; })));
}

RC_GTEST_PROP(SpeedupInterval, ContainsTheSpeedup, ()) {
  const RunRecord record = timed(*any_times(), *any_times());
  const Interval interval = speedup_interval(record);
  const double speedup = judge(record).speedup;
  RC_ASSERT(interval.known());
  RC_ASSERT(interval.low <= speedup * (1 + 1e-12));
  RC_ASSERT(interval.high >= speedup * (1 - 1e-12));
}

RC_GTEST_PROP(SpeedupInterval, GoesWithTheUnitAndTheCandidate, ()) {
  const std::vector<double> reference = *any_times(), candidate = *any_times();
  const Interval once = speedup_interval(timed(reference, candidate));
  const auto scaled = [](std::vector<double> times, double by) {
    for (double& time : times) time *= by;
    return times;
  };
  // Powers of two, so that nothing is rounded.
  RC_ASSERT(speedup_interval(timed(scaled(reference, 4), scaled(candidate, 4))) == once);
  const Interval twice = speedup_interval(timed(scaled(reference, 2), candidate));
  RC_ASSERT(twice.low == 2 * once.low);
  RC_ASSERT(twice.high == 2 * once.high);
}

TEST(SpeedupInterval, IsTheSameEachTime) {
  std::mt19937_64 random(1);
  const RunRecord record = timed(times_about(20, 100, random), times_about(10, 100, random));
  EXPECT_EQ(speedup_interval(record), speedup_interval(record));
}

// The same distribution on both sides: 95 of 100 intervals ought to contain 1; the bounds leave room for a bootstrap's
// own error. The draws are fixed, so this never fails by chance.
TEST(SpeedupInterval, OfTheSameOnBothSidesContainsOneNearlyAlways) {
  std::mt19937_64 random(7);
  int contains = 0;
  for (int i = 0; i < 200; ++i) {
    const Interval interval = speedup_interval(timed(times_about(10, 100, random), times_about(10, 100, random)));
    contains += interval.low <= 1 && interval.high >= 1 ? 1 : 0;
  }
  EXPECT_GE(contains, 180);
  EXPECT_LE(contains, 199) << "an interval that always contains 1 says nothing";
}

TEST(SpeedupInterval, NarrowsWithMoreTrials) {
  std::mt19937_64 random(3);
  const Interval few = speedup_interval(timed(times_about(20, 20, random), times_about(10, 20, random)));
  const Interval many = speedup_interval(timed(times_about(20, 2000, random), times_about(10, 2000, random)));
  EXPECT_LT(many.high - many.low, (few.high - few.low) / 2);
}

TEST(SpeedupInterval, DriftOfTheMachineOnBothSidesDoesNotWidenIt) {
  std::vector<double> reference, candidate;
  for (int i = 0; i < 100; ++i) {
    const double slow = i < 50 ? 1 : 1.5;  // the clock went down in the middle
    reference.push_back(20 * slow);
    candidate.push_back(10 * slow);
  }
  const Interval interval = speedup_interval(timed(reference, candidate));
  EXPECT_DOUBLE_EQ(interval.low, 2);
  EXPECT_DOUBLE_EQ(interval.high, 2);
}

TEST(SpeedupInterval, IsUnknownWithoutBelievableTimes) {
  EXPECT_FALSE(speedup_interval(timed({}, {})).known());
  EXPECT_FALSE(speedup_interval(timed({1, 2}, {})).known());
  EXPECT_FALSE(speedup_interval(timed({1, 2}, {1, NAN})).known());
  EXPECT_FALSE(speedup_interval(timed({1, 2}, {0, 0})).known());
}

}  // namespace
}  // namespace passnet::bench
