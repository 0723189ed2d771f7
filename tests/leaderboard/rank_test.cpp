#include "leaderboard/rank.h"

#include <gtest/gtest.h>

#include <vector>

namespace passnet::leaderboard {
namespace {

TEST(Rank, AgreesWithItselfAndContradictsItsReverse) {
  const std::vector<double> up{1, 2, 3, 10}, down{4, 3, 2, 1};
  const auto same = rank_correlation(up, up), reverse = rank_correlation(up, down);
  ASSERT_TRUE(same && reverse);
  EXPECT_DOUBLE_EQ(same->spearman, 1);
  EXPECT_DOUBLE_EQ(same->kendall, 1);
  EXPECT_DOUBLE_EQ(reverse->spearman, -1);
  EXPECT_DOUBLE_EQ(reverse->kendall, -1);
}

// Ranks 1 2 3 4 5 against 2 1 4 3 5: sum of squared differences 4, so 1 - 6*4/(5*24); 8 of 10 pairs agree.
TEST(Rank, ATextbookExample) {
  const std::vector<double> a{10, 20, 30, 40, 50}, b{2, 1, 4, 3, 5};
  const auto found = rank_correlation(a, b);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->spearman, 0.8, 1e-12);
  EXPECT_NEAR(found->kendall, 0.6, 1e-12);
}

// Ranks of b: 1.5 1.5 3; one pair is tied in it: tau-b = 2 / sqrt(3 * 2).
TEST(Rank, TiesHaveTheMeanOfTheirRanks) {
  const std::vector<double> a{1, 2, 3}, b{5, 5, 9};
  const auto found = rank_correlation(a, b);
  ASSERT_TRUE(found);
  EXPECT_NEAR(found->spearman, 0.8660254037844387, 1e-12);
  EXPECT_NEAR(found->kendall, 0.8164965809277261, 1e-12);
}

TEST(Rank, WithoutAnOrderThereIsNone) {
  const std::vector<double> one{1}, flat{2, 2, 2}, up{1, 2, 3};
  EXPECT_FALSE(rank_correlation(one, one));
  EXPECT_FALSE(rank_correlation(flat, up));
  EXPECT_FALSE(rank_correlation(up, flat));
  EXPECT_FALSE(rank_correlation({}, {}));
}

}  // namespace
}  // namespace passnet::leaderboard
