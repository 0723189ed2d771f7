#include "run/machine_lock.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

namespace passnet::run {
namespace {

using ::testing::ElementsAre;

/// A kind of lock that no other process uses.
std::string own_kind() { return fmt::format("test-{}", ::getpid()); }

TEST(MachineLease, TakesTheFirstThatAreFree) {
  const auto first = MachineLease::take(own_kind(), {3, 5, 7, 9}, 2, {}, nullptr);
  ASSERT_TRUE(first.has_value());
  EXPECT_THAT(first->held(), ElementsAre(3, 5));
  const auto second = MachineLease::take(own_kind(), {3, 5, 7, 9}, 2, {}, nullptr);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(second->held(), ElementsAre(7, 9));
}

TEST(MachineLease, WaitsWhileTooFewAreFreeAndSaysForWhom) {
  auto first = MachineLease::take(own_kind(), {1, 2}, 2, {}, nullptr);
  ASSERT_TRUE(first.has_value());
  std::vector<std::string> reasons;
  const auto give_back = [&](const std::string& why) {
    reasons.push_back(why);
    *first = MachineLease();
  };
  const auto second = MachineLease::take(own_kind(), {1, 2}, 1, give_back, nullptr);
  ASSERT_TRUE(second.has_value());
  EXPECT_THAT(second->held(), ElementsAre(1));
  EXPECT_THAT(reasons, ElementsAre(fmt::format("{}s 1, 2 are held by process {}", own_kind(), ::getpid())));
}

TEST(MachineLease, HoldsNothingWhileItWaits) {
  auto first = MachineLease::take(own_kind(), {2}, 1, {}, nullptr);
  ASSERT_TRUE(first.has_value());
  const auto look = [&](const std::string&) {
    const auto third = MachineLease::take(own_kind(), {1}, 1, {}, nullptr);
    EXPECT_TRUE(third.has_value());
    *first = MachineLease();
  };
  EXPECT_TRUE(MachineLease::take(own_kind(), {1, 2}, 2, look, nullptr).has_value());
}

TEST(MachineLease, InterruptEndsTheWait) {
  const auto first = MachineLease::take(own_kind(), {1}, 1, {}, nullptr);
  const std::atomic<bool> interrupted{true};
  const auto second = MachineLease::take(own_kind(), {1}, 1, {}, &interrupted);
  ASSERT_FALSE(second.has_value());
  EXPECT_EQ(second.error().message, "interrupted");
}

}  // namespace
}  // namespace passnet::run
