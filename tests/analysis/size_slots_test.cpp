// Which integers of a call are sizes.
#include "analysis/size_slots.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "ir/ops/table.h"
#include "shapes_fixture.h"

namespace passnet::analysis {
namespace {

/// "8@1": the value of each slot of the last statement and its axis or place.
std::string slots(const std::string& statement, bool integral = false) {
  const auto graph = fx::parse_text(fx::model_text("x, i", "y = " + statement + "\nreturn (y,)"));
  if (!graph) return to_string(graph.error());
  ValueShapes shapes = dataset::shapes_of(*graph, {{"x", {2, 8, 24}}, {"i", {16}}});
  shapes.integral[1] = integral;
  std::string text;
  for (const SizeSlot& slot : size_slots(*graph, graph->size() - 2, shapes))
    text += (text.empty() ? "" : " ") + std::to_string(slot.value) + "@" + std::to_string(slot.position);
  return text;
}

TEST(SizeExpression, IsASizeOnlyWhereTheDivisionIsExact) {
  const auto graph = fx::parse_text(fx::model_text("x, i", "return (x,)"));
  const ValueShapes shapes = dataset::shapes_of(*graph, {{"x", {2, 8, 24}}, {"i", {16}}});
  SizeExpression size;
  size.factors = {{0, 1}, {0, 2}};
  size.divisors = {{1, 0}};
  size.offset = 3;
  EXPECT_EQ(evaluate(size, shapes), 8 * 24 / 16 + 3);
  size.divisor = 5;
  EXPECT_EQ(evaluate(size, shapes), std::nullopt) << "192 is no multiple of 80";
  size.divisor = 0;
  EXPECT_EQ(evaluate(size, shapes), std::nullopt);
  size.divisor = 2;
  EXPECT_EQ(evaluate(size, shapes), 9);
  size.factors.push_back({0, 3});
  EXPECT_EQ(evaluate(size, shapes), std::nullopt) << "x has no such axis";
}

TEST(SizeSlots, OfASplitAreFoundUnderEveryName) {
  for (const char* split :
       {"torch.split(x, 8, -1)", "x.split(8, dim=2)", "x.split(split_size=8, dim=-1)",
        "torch.split(x, split_size_or_sections=8, dim=2)", "torch.split(tensor=x, split_size_or_sections=8, dim=-1)",
        "x.split_with_sizes(split_sizes=8, dim=2)"})
    EXPECT_EQ(slots(split), "8@2") << split;
  EXPECT_EQ(slots("x.split_with_sizes(split_sizes=[8, 16], dim=2)"), "8@2 16@2");
}

TEST(SizeSlots, AreThoseOfEveryPositionAndKeyword) {
  EXPECT_EQ(slots("x.view(2, -1, 24)"), "2@0 24@2");
  EXPECT_EQ(slots("x.view(size=(2, 8, 24))"), "2@0 8@1 24@2");
  EXPECT_EQ(slots("torch.arange(2, 16, 3)"), "2@0 16@1");
  EXPECT_EQ(slots("torch.arange(16)"), "16@0");
  EXPECT_EQ(slots("torch.arange(start=2, end=16)"), "2@0 16@1");
  EXPECT_EQ(slots("torch.eye(8, m=24)"), "8@0 24@1");
  EXPECT_EQ(slots("torch.nn.functional.fold(x, (8, 8), 3)"), "8@0 8@1");
  EXPECT_EQ(slots("x[(slice(None, 8, 2), 3, slice(1, 24, None))]"), "8@0 1@2 24@2");
}

TEST(SizeSlots, OfNumbersAreSizesOnlyAmongIntegers) {
  EXPECT_EQ(slots("i + 16", true), "16@1");
  EXPECT_EQ(slots("i + 16", false), "");
  EXPECT_EQ(slots("torch.clamp(i, min=1, max=16)", true), "1@0 16@1");
}

TEST(SizeSlots, FollowTheRolesOfParameters) {
  EXPECT_EQ(size_rule(ir::Role::View), SizeRule::View);
  EXPECT_EQ(size_rule(ir::Role::Number), SizeRule::Number);
  EXPECT_EQ(size_rule(ir::Role::Bound), SizeRule::Number);
  EXPECT_EQ(size_rule(ir::Role::Step), std::nullopt);
  EXPECT_EQ(size_rule(ir::Role::None), std::nullopt);
}

}  // namespace
}  // namespace passnet::analysis
