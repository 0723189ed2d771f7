#include "base/budget.h"

#include <gtest/gtest.h>

namespace passnet {
namespace {

constexpr Work kTen{"the work takes", 10, "do less"}, kMany{"all of it takes", 100'000, "do less"};

std::string charged(Budget& budget, size_t steps) {
  const Result<void> paid = budget.charge(steps);
  return paid ? "" : to_string(paid.error());
}

TEST(Budget, GivesAllItsStepsAndNoMore) {
  Budget budget(kTen);
  for (int i = 0; i < 10; ++i) EXPECT_EQ(charged(budget, 1), "") << i;
  EXPECT_EQ(budget.spent(), 10);
  EXPECT_TRUE(budget.check());
  EXPECT_EQ(charged(budget, 1), "error: the work takes more than 10 steps\nhint: do less");
  EXPECT_FALSE(budget.check());
  EXPECT_EQ(charged(budget, 1), "error: the work takes more than 10 steps\nhint: do less");
}

TEST(Budget, TakesAnyNumberOfSteps) {
  Budget budget(kTen);
  EXPECT_NE(charged(budget, ~size_t{0}), "");
  EXPECT_LT(budget.spent(), 100);
}

TEST(Budget, APartIsChargedForTheWhole) {
  Budget whole(kMany);
  for (int i = 0; i < 10'000; ++i) {
    Budget part(kTen, whole);
    ASSERT_EQ(charged(part, 10), "") << i;
  }
  EXPECT_EQ(whole.spent(), 100'000);
  Budget last(kTen, whole);
  EXPECT_EQ(charged(last, 1), "error: all of it takes more than 100000 steps\nhint: do less");
}

TEST(Budget, AnInterruptionEndsItsParts) {
  std::atomic<bool> interrupted = false;
  Budget whole(kMany, {.interrupted = &interrupted});
  Budget part(kMany, whole);
  EXPECT_TRUE(part.charge(1));
  interrupted = true;
  int64_t more = 0;
  while (part.charge(1)) ++more;
  EXPECT_LT(more, 10'000);
  EXPECT_EQ(part.check().error().failure, "interrupted");
  EXPECT_EQ(part.check().error().kind, Error::Kind::Resource);
}

TEST(Budget, TimeEndsIt) {
  Budget budget(kMany, {.time = std::chrono::milliseconds(0)});
  EXPECT_EQ(charged(budget, 1), "error: all of it takes longer than 0 s\nhint: do less");
  Budget late(kMany, {.time = std::chrono::milliseconds(0)});
  late.postpone(std::chrono::hours(1));
  EXPECT_EQ(charged(late, 1), "");
  EXPECT_TRUE(late.look());
  EXPECT_EQ(late.time_left(std::chrono::seconds(5)), std::chrono::seconds(5));
  late.postpone(-std::chrono::hours(2));
  EXPECT_EQ(charged(late, 1), "");  // the clock is looked at now and then
  EXPECT_FALSE(late.look());
  EXPECT_EQ(late.time_left(std::chrono::seconds(5)), std::chrono::milliseconds(1));
}

}  // namespace
}  // namespace passnet
