#include "dataset/pieces/fusible.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>

namespace passnet::dataset {
namespace {

std::string ranges(const std::vector<int>& kernels) {
  std::string text;
  for (const analysis::Range& range : fusible_ranges(kernels)) text += fmt::format("({},{})", range.start, range.end);
  return text;
}

// The vectors of the specification.
TEST(FusibleRanges, AreTheNodesThatAddNoLaunch) {
  EXPECT_EQ(ranges({1, 1, 1, 2, 2, 3, 3, 3}), "(0,3)(3,5)(5,8)");
  EXPECT_EQ(ranges({1, 2, 3, 4}), "");
  EXPECT_EQ(ranges({1, 1, 2, 2, 1, 1, 2}), "(0,6)");
  EXPECT_EQ(ranges({1, 2, 2, 1, 1, 3, 3}), "(0,5)(5,7)");
  EXPECT_EQ(ranges({1, 2, 3, 2, 2, 4}), "(1,5)");
  EXPECT_EQ(ranges({1, 2, 1, 2, 1, 2}), "(0,5)");
  EXPECT_EQ(ranges({2, 2, 3, 3, 2, 4, 4, 5}), "(0,5)(5,7)");
  EXPECT_EQ(ranges({1, 3, 3, 2, 2, 2, 4, 5, 5}), "(1,6)(7,9)");
  EXPECT_EQ(ranges({1, 2, 3, 3, 3, 2, 3, 3}), "(1,6)(6,8)");
  EXPECT_EQ(ranges({3, 2, 1, 1}), "(0,4)");
  EXPECT_EQ(ranges({0, 0, 0}), "(0,3)");
  EXPECT_EQ(ranges({0, 0, 1, 1, 1, 2, 3, 3}), "(0,2)(2,5)(6,8)");
  EXPECT_EQ(ranges({}), "");
  EXPECT_EQ(ranges({1}), "");
}

TEST(FusibleRanges, OfResNet18AreThePublishedOnes) {
  EXPECT_EQ(ranges({4,  4,  4,  5,  11, 11, 11, 16, 16, 15, 15, 21, 21, 21, 26, 26, 25, 25, 31, 31, 31, 36, 36,
                    37, 37, 36, 37, 42, 42, 42, 47, 47, 46, 46, 51, 51, 51, 56, 56, 57, 57, 56, 57, 62, 62, 62,
                    67, 67, 66, 66, 71, 71, 71, 76, 76, 79, 79, 78, 79, 84, 84, 84, 89, 89, 88, 88, 88, 88, 89}),
            "(0,3)(4,7)(7,11)(11,14)(14,18)(18,21)(21,26)(27,30)(30,34)(34,37)(37,42)(43,46)(46,50)(50,53)(53,55)("
            "55,58)"
            "(59,62)(62,68)");
}

}  // namespace
}  // namespace passnet::dataset
