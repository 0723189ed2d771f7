#include "dataset/sizes/pool.h"

#include <gmock/gmock.h>

#include "dataset/shapes_fixture.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;

// Sizes of a, b, c as captured, at another batch, and at another length.
class Pool : public testing::Test {
 protected:
  const ir::Graph graph_ = fx::parse("a, b, c", "return (a,)");
  const Probes probes_{shapes_of(graph_, {{"a", {1, 16, 8}}, {"b", {16, 1, 16}}, {"c", {1, 16}}}),
                       shapes_of(graph_, {{"a", {3, 16, 8}}, {"b", {16, 3, 16}}, {"c", {1, 16}}}),
                       shapes_of(graph_, {{"a", {1, 32, 8}}, {"b", {32, 1, 32}}})};
  SizePool pool_;
};

TEST_F(Pool, ProfilesAreTheSizesAtEachProbe) {
  EXPECT_EQ(profile_of(analysis::SizeExpression::of({0, 1}), probes_), (Profile{16, 16, 32}));
  EXPECT_EQ(profile_of({{{0, 0}, {0, 1}}, {}, 2, 4, 1}, probes_), (Profile{9, 25, 17}));
  EXPECT_EQ(profile_of(analysis::SizeExpression::of({2, 1}), probes_), std::nullopt) << "not known at the last";
  EXPECT_EQ(profile_of({{{0, 1}}, {}, 1, 5, 0}, probes_), std::nullopt) << "leaves a remainder";
  EXPECT_TRUE(changes({1, 3, 1}));
  EXPECT_FALSE(changes({8, 8, 8}));
}

TEST_F(Pool, HoldsSizesThatChangeTheMostRecentLast) {
  pool_.add(0, probes_);
  pool_.add(1, probes_);
  ASSERT_EQ(pool_.changing(16).size(), 1u) << "one profile, seen thrice";
  EXPECT_EQ(pool_.changing(16)[0].size, analysis::SizeExpression::of({1, 2}));
  EXPECT_THAT(pool_.changing(16)[0].profile, ElementsAre(16, 16, 32));
  EXPECT_TRUE(pool_.changing(8).empty()) << "it is the same everywhere";
  EXPECT_TRUE(pool_.changing(7).empty());
}

TEST_F(Pool, TakesAOneForABatchOnTheFirstAxisOnly) {
  pool_.add(1, probes_);
  EXPECT_TRUE(pool_.changing(1).empty());
  pool_.add(0, probes_);
  ASSERT_EQ(pool_.changing(1).size(), 1u);
  EXPECT_EQ(pool_.changing(1)[0].size, analysis::SizeExpression::of({0, 0}));
}

TEST_F(Pool, HoldsAreasOfNeighbours) {
  pool_.add(0, probes_);
  ASSERT_EQ(pool_.areas(128).size(), 1u);
  EXPECT_THAT(pool_.areas(128)[0].profile, ElementsAre(128, 128, 256));
  EXPECT_TRUE(pool_.areas(16).empty()) << "a batch of one is no side of an area";
}

}  // namespace
}  // namespace passnet::dataset
