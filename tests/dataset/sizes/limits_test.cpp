#include "dataset/sizes/limits.h"

#include <gtest/gtest.h>

#include "dataset/shapes_fixture.h"
#include "dataset/sizes/choice.h"

namespace passnet::dataset {
namespace {

// Why the statement that gives y depends on the sizes.
std::string why(const std::string& body, const Shapes& captured, const Shapes& there) {
  const auto graph = fx::parse_text(fx::model_text("x", body));
  if (!graph) return to_string(graph.error());
  for (ir::NodeId id = 0; id < graph->size(); ++id) {
    if (graph->node(id).name == "y")
      return depends_on_size(*graph, id, shapes_of(*graph, captured), shapes_of(*graph, there));
  }
  return "no y";
}

TEST(SizeLimits, APaddingToAMultipleHoldsForEqualRemainders) {
  const std::string windows =
      "y = torch.nn.functional.pad(x, (0, 0, 0, 0, 0, 0), 'constant', None)\n"
      "z = y.view(1, 8, 7, 8, 7, 96)\nreturn (z,)";
  const Shapes captured{{"x", {1, 56, 56, 96}}, {"y", {1, 56, 56, 96}}, {"z", {1, 8, 7, 8, 7, 96}}};
  EXPECT_EQ(why(windows, captured, {{"x", {1, 112, 112, 96}}}), "");
  EXPECT_EQ(why(windows, captured, {{"x", {2, 56, 56, 96}}}), "");
  EXPECT_EQ(why(windows, captured, {{"x", {1, 64, 64, 96}}}), "64 in place of 56 is padded to a multiple of 7");
}

TEST(SizeLimits, APaddingForAStrideHoldsForEqualRemainders) {
  const std::string strided =
      "y = torch.nn.functional.pad(x, (0, 1, 0, 1))\n"
      "z = torch.conv2d(y, x, None, (2, 2), (0, 0), (1, 1), 1)\nreturn (z,)";
  const Shapes captured{{"x", {1, 3, 16, 16}}, {"y", {1, 3, 17, 17}}};
  EXPECT_EQ(why(strided, captured, {{"x", {1, 3, 32, 32}}}), "");
  EXPECT_EQ(why(strided, captured, {{"x", {1, 3, 17, 16}}}), "17 in place of 16 is padded to a multiple of 2");
}

TEST(SizeLimits, WhatMayFollowFromASizeIsTold) {
  const Shapes captured{{"x", {1, 3, 48, 48}}}, there{{"x", {1, 3, 50, 50}}};
  EXPECT_EQ(why("y = torch.nn.functional.pad(x, (0, 48))\nreturn (y,)", captured, there),
            "48 is padded by 48, which may follow from it");
  EXPECT_EQ(why("y = torch.nn.functional.avg_pool2d(x, 3, 3)\nreturn (y,)", captured, there),
            "pieces of 3, which may be a quotient of sizes, are pooled");
  EXPECT_EQ(why("y = torch.nn.functional.avg_pool2d(x, 2, 2)\nreturn (y,)", captured, there), "");
  EXPECT_EQ(why("y = torch.nn.functional.avg_pool2d(x, 3, 2)\nreturn (y,)", captured, there), "");
  EXPECT_EQ(why("y = x.clamp(min = 0, max = 320)\nreturn (y,)", captured, there),
            "its bound 320 may be a size of the picture");
  EXPECT_EQ(why("y = x.clamp(min = 0, max = 6)\nreturn (y,)", captured, there), "");
  EXPECT_EQ(why("y = x.clamp(min = 0, max = 320)\nreturn (y,)", captured, captured), "");
}

TEST(SizeLimits, ANumberThatFitsBothWaysIsOpen) {
  const analysis::SizeExpression size = analysis::SizeExpression::of({0, 0});
  const auto open = [&](std::vector<analysis::SizeSlot> slots, std::vector<analysis::SizeExpression> sizes) {
    const auto graph = fx::parse_text(fx::model_text("x", "y = x.view(1, -1)\nreturn (y,)"));
    return is_open(*graph, 1, slots, sizes);
  };
  EXPECT_EQ(open({{0, 16, analysis::SizeRule::Number, 0}}, {size}), "16 may be a size or a number of its own");
  EXPECT_EQ(open({{0, 16, analysis::SizeRule::Number, 0}}, {analysis::SizeExpression::constant(16)}), "");
  EXPECT_EQ(open({{0, 1, analysis::SizeRule::Repeat, 0}, {1, 28, analysis::SizeRule::Repeat, 2}}, {size, size}),
            "its first 1 may be the batch or a number of its own");
  EXPECT_EQ(open({{0, 1, analysis::SizeRule::Repeat, 0}, {1, 1, analysis::SizeRule::Repeat, 1}},
                 {size, analysis::SizeExpression::constant(1)}),
            "");
  EXPECT_EQ(open({{0, 1, analysis::SizeRule::Create, 0}, {1, 16, analysis::SizeRule::Create, 1}}, {size, size}), "");
}

}  // namespace
}  // namespace passnet::dataset
