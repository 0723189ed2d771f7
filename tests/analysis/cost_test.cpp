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
  EXPECT_EQ(linear.flops(), 2 * 3 * 7 * 5);
  EXPECT_EQ(linear.bytes_in, 4 * (15 + 35));
  EXPECT_EQ(linear.bytes_out, 4 * 21);
  const Cost conv = cost("b = torch.conv2d(a, w)\nreturn (b,)", {{"a", tensor("float16", {1, 3, 8, 8})},
                                                                 {"w", tensor("float16", {4, 3, 3, 3})},
                                                                 {"b", tensor("float16", {1, 4, 6, 6})}});
  EXPECT_EQ(conv.flops(), 2 * (4 * 6 * 6) * (3 * 3 * 3));
}

TEST(Cost, CountsLoopsPerElementAndViewsNotAtAll) {
  const std::map<std::string_view, ir::Value> types{{"a", tensor("float32", {4, 8})},
                                                    {"w", tensor("float32", {8})},
                                                    {"b", tensor("float32", {4, 8})},
                                                    {"c", tensor("float32", {8, 4})},
                                                    {"d", tensor("float32", {4})}};
  EXPECT_EQ(cost("b = a + w\nc = b.transpose(0, 1)\nd = b.mean(1)\nreturn (c, d)", types).flops(), 32 + 32);
}

TEST(Cost, CountsProductsByTheirForm) {
  const std::map<std::string_view, ir::Value> types{{"a", tensor("float16", {2, 3, 4, 5})},
                                                    {"w", tensor("float16", {2, 3, 7, 5})},
                                                    {"b", tensor("float16", {2, 3, 4, 5})},
                                                    {"c", tensor("float16", {2, 3, 4, 7})}};
  constexpr double kMultiplyAdds = 2 * 3 * 4 * 7 * 5;
  EXPECT_EQ(cost("c = torch.einsum('bhij, bhkj -> bhik', a, w)\nreturn (c,)", types).flops(), 2 * kMultiplyAdds);
  EXPECT_EQ(cost("c = torch.einsum('...ij,...kj->...ik', a, w)\nreturn (c,)", types).flops(), 2 * 3 * 4 * 7);
  const std::string attention = "b = torch.nn.functional.scaled_dot_product_attention(a, w, w";
  EXPECT_EQ(cost(attention + ")\nreturn (b,)", types).flops(), 4 * kMultiplyAdds);
  EXPECT_EQ(cost(attention + ", is_causal=True)\nreturn (b,)", types).flops(), 2 * kMultiplyAdds);
  EXPECT_EQ(cost("b = torch.sort(a)\nreturn (b,)", types).flops(), 2 * 3 * 4 * 5) << "compares, multiplies nothing";
  const std::map<std::string_view, ir::Value> images{{"a", tensor("float32", {1, 3, 8, 8})},
                                                     {"w", tensor("float32", {3, 4, 2, 2})},
                                                     {"b", tensor("float32", {1, 4, 16, 16})}};
  EXPECT_EQ(cost("b = torch.nn.functional.conv_transpose2d(a, w, None, 2)\nreturn (b,)", images).flops(),
            2 * (3 * 8 * 8) * (4 * 2 * 2));
}

TEST(Cost, TellsOperationsByElementTypeAndConvolutionsApart) {
  const std::vector<Operations> found =
      cost("b = torch.conv2d(a, w)\nc = b.to(torch.float16)\nd = c * 2\ne = torch.cat([d, d])\nreturn (e,)",
           {{"a", tensor("float32", {1, 1, 2, 2})},
            {"w", tensor("float32", {1, 1, 1, 1})},
            {"b", tensor("float32", {1, 1, 2, 2})},
            {"c", tensor("float16", {1, 1, 2, 2})},
            {"d", tensor("float16", {1, 1, 2, 2})},
            {"e", tensor("float16", {2, 1, 2, 2})}})
          .operations;
  ASSERT_EQ(found.size(), 2u);
  EXPECT_EQ(found[0].dtype, ir::DType::Float32);
  EXPECT_TRUE(found[0].convolution);
  EXPECT_EQ(found[0].count, 8);
  EXPECT_EQ(found[1].dtype, ir::DType::Float16);
  EXPECT_EQ(found[1].count, 4) << "of the product: copies compute nothing";
}

}  // namespace
}  // namespace passnet::analysis
