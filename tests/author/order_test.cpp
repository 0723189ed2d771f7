#include "author/subject/order.h"

#include <gtest/gtest.h>

namespace passnet::author {
namespace {

ValueType tensor(std::vector<int64_t> shape, std::vector<int64_t> strides) {
  ValueType type;
  type.kind = ValueType::Kind::Tensor;
  type.tensor.shape = std::move(shape);
  type.tensor.strides = std::move(strides);
  return type;
}

using Order = std::vector<size_t>;

TEST(Orders, AreAsCountedWhereElementsLieSo) {
  EXPECT_EQ(common_order({tensor({2, 3, 4}, {12, 4, 1})}), (Order{0, 1, 2}));
  EXPECT_EQ(common_order({tensor({2, 1, 4}, {4, 99, 1}), tensor({5, 3, 1}, {3, 1, 7})}), (Order{0, 1, 2}));
}

TEST(Orders, OfNoElementsAreAnyOnes) {
  const ValueType none = tensor({2, 0, 4}, {4, 4, 1});
  EXPECT_EQ(common_order({none}), (Order{0, 1, 2}));
  EXPECT_EQ(common_order({none, tensor({2, 3, 4}, {12, 1, 3})}), (Order{0, 2, 1}));
}

TEST(Orders, PutTheLargestStepFirst) {
  EXPECT_EQ(common_order({tensor({2, 5, 3, 4}, {60, 1, 20, 5})}), (Order{0, 2, 3, 1}));
}

TEST(Orders, OfADimensionOfOneElementAreThoseOfAnotherGraph) {
  const ValueType one = tensor({1, 5, 3, 4}, {5, 1, 20, 5}), two = tensor({2, 5, 3, 4}, {60, 1, 20, 5});
  EXPECT_EQ(common_order({one, two}), (Order{0, 2, 3, 1}));
  EXPECT_EQ(common_order({two, one}), (Order{0, 2, 3, 1}));
}

TEST(Orders, AreNoneWhereElementsLieApartOrOtherwise) {
  EXPECT_FALSE(common_order({tensor({2, 3}, {4, 1})}));
  EXPECT_FALSE(common_order({tensor({2, 3}, {0, 1})}));
  EXPECT_FALSE(common_order({tensor({2, 3}, {3, 1}), tensor({2, 3}, {1, 2})}));
  EXPECT_FALSE(common_order({tensor({2, 3}, {3, 1}), tensor({6}, {1})}));
  EXPECT_FALSE(common_order({tensor({2, 3}, {3, 1}), ValueType()}));
}

}  // namespace
}  // namespace passnet::author
