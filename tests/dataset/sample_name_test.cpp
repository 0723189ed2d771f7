#include "dataset/sample_name.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::dataset {
namespace {

std::string words(const std::string& parameters, const std::string& body) {
  auto parsed = fx::parse_text(fx::model_text(parameters, body));
  EXPECT_TRUE(parsed) << to_string(parsed.error());
  return operator_words(*parsed);
}

TEST(SampleName, HasTheOperatorsInOrder) {
  EXPECT_EQ(words("a, b", "c = a + b\nd = torch.nn.functional.layer_norm(c, (4,))\nreturn (d,)"), "add_layer_norm");
}

TEST(SampleName, IsTheSameForEverySpelling) {
  EXPECT_EQ(words("a, b", "c = torch.add(a, b)\nd = c.relu()\nreturn (d,)"),
            words("a, b", "c = a + b\nd = torch.nn.functional.relu(c, inplace=False)\nreturn (d,)"));
}

TEST(SampleName, LeavesOutViewsUnlessThereIsNothingElse) {
  EXPECT_EQ(words("a", "b = a.view(4, 4)\nc = b.transpose(0, 1)\nd = c[0]\ne = d.exp()\nreturn (e,)"), "exp");
  EXPECT_EQ(words("a", "b = a.view(4, 4)\nc = b.transpose(0, 1)\nreturn (c,)"), "view_transpose");
}

TEST(SampleName, TellsRepetitionsOnceAndFiveOperatorsAtMost) {
  EXPECT_EQ(words("a", "b = a.exp()\nc = b.exp()\nd = c.sin()\nreturn (d,)"), "exp_sin");
  EXPECT_EQ(words("a", "b = a.exp()\nc = b.sin()\nd = c.cos()\ne = d.tan()\nf = e.exp()\ng = f.abs()\nreturn (g,)"),
            "exp_sin_cos_tan_exp");
}

TEST(SampleName, IsShortAndPlain) {
  const std::string long_ones = words("a",
                                      "b = torch.nn.functional.adaptive_avg_pool2d(a, 1)\nc = "
                                      "torch.nn.functional.binary_cross_entropy_with_logits(b, b)\n"
                                      "d = c.exp()\nreturn (d,)");
  EXPECT_EQ(long_ones, "adaptive_avg_pool2d");
  EXPECT_EQ(words("a", "b = a.__eq__(a)\nreturn (b,)"), "eq");
  EXPECT_EQ(sample_name("add_relu", "0123456789abcdef0123"), "add_relu_01234567");
  EXPECT_EQ(sample_name("add_relu", "0123456789abcdef0123", 16), "add_relu_0123456789abcdef");
}

}  // namespace
}  // namespace passnet::dataset
