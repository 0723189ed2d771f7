#include "analysis/cost.h"

#include <gtest/gtest.h>

#include <map>

#include "fx/graph_text.h"

namespace passnet::analysis {
namespace {

ir::Value tensor(const std::string& dtype, const std::vector<int64_t>& shape) {
  return {ir::contiguous(*ir::parse_dtype(dtype), shape), {}};
}

Cost cost(const std::string& body, const std::map<std::string_view, ir::Value>& types) {
  const auto graph = fx::parse_text(fx::model_text("a, w", body));
  EXPECT_TRUE(graph) << to_string(graph.error());
  ir::Values values;
  for (const ir::Node& node : graph->nodes())
    values.push_back(types.contains(node.name) ? types.at(node.name) : ir::Value{});
  return cost_of(*graph, values);
}

TEST(Cost, CountsTwoPerMultiplyAdd) {
  const Cost linear =
      cost("b = torch.nn.functional.linear(a, w)\nreturn (b,)",
           {{"a", tensor("float32", {3, 5})}, {"w", tensor("float32", {7, 5})}, {"b", tensor("float32", {3, 7})}});
  EXPECT_EQ(linear.flops, 2 * 3 * 7 * 5);
  EXPECT_EQ(linear.bytes_in, 4 * (15 + 35));
  EXPECT_EQ(linear.bytes_out, 4 * 21);
  const Cost conv = cost("b = torch.conv2d(a, w)\nreturn (b,)", {{"a", tensor("float16", {1, 3, 8, 8})},
                                                                 {"w", tensor("float16", {4, 3, 3, 3})},
                                                                 {"b", tensor("float16", {1, 4, 6, 6})}});
  EXPECT_EQ(conv.flops, 2 * (4 * 6 * 6) * (3 * 3 * 3));
}

TEST(Cost, CountsLoopsPerElementAndViewsNotAtAll) {
  const std::map<std::string_view, ir::Value> types{{"a", tensor("float32", {4, 8})},
                                                    {"w", tensor("float32", {8})},
                                                    {"b", tensor("float32", {4, 8})},
                                                    {"c", tensor("float32", {8, 4})},
                                                    {"d", tensor("float32", {4})}};
  EXPECT_EQ(cost("b = a + w\nc = b.transpose(0, 1)\nd = b.mean(1)\nreturn (c, d)", types).flops, 32 + 32);
}

TEST(Cost, LeastTimeIsTheLargerOfTwo) {
  EXPECT_DOUBLE_EQ(roofline_us({3e9, 1e9, 0}, 4000, 60), 1e3);
  EXPECT_DOUBLE_EQ(roofline_us({0, 0, 60e9}, 4000, 60), 1e3);
}

}  // namespace
}  // namespace passnet::analysis
