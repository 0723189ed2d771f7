#include "analysis/dtype_variant.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fx/graph_text.h"

namespace passnet::analysis {
namespace {

graphdir::TensorMeta meta(const std::string& name, ir::DType dtype) {
  graphdir::TensorMeta made;
  made.name = name;
  made.dtype = dtype;
  return made;
}

TEST(DtypeVariant, ChangesFloat32RecordsOnly) {
  const auto changed =
      retyped({meta("in_0", ir::DType::Float32), meta("in_1", ir::DType::Int64), meta("in_2", ir::DType::Float64)},
              ir::DType::BFloat16);
  ASSERT_TRUE(changed);
  EXPECT_EQ((*changed)[0].dtype, ir::DType::BFloat16);
  EXPECT_EQ((*changed)[1].dtype, ir::DType::Int64);
  EXPECT_EQ((*changed)[2].dtype, ir::DType::Float64);
  EXPECT_FALSE(retyped({meta("in_0", ir::DType::Int64)}, ir::DType::Float16));
}

TEST(DtypeVariant, CastsWhatAProductTakesInFloat32) {
  const auto graph = fx::parse_text(fx::model_text(
      "a, w", "b = torch.arange(4.0)\nc = torch.matmul(a, b)\nd = torch.matmul(c, w)\ne = d + b\nreturn (e,)"));
  ASSERT_TRUE(graph);
  const Json types{{"a", {{"dtype", "float16"}}},
                   {"w", {{"dtype", "float16"}}},
                   {"b", {{"dtype", "float32"}}},
                   {"c", {{"dtype", "float16"}}},
                   {"d", {{"dtype", "float16"}}}};
  EXPECT_EQ(fx::dump(with_casts(*graph, ir::DType::Float16, types)),
            "b = torch.arange(4.0)\n"
            "cast_0 = b.to(torch.float16)\n"
            "c = torch.matmul(a, cast_0)\n"
            "d = torch.matmul(c, w)\n"
            "e = d + b\n"
            "return (e,)\n");
}

TEST(DtypeVariant, LeavesAGraphWithoutMixturesAsItIs) {
  const auto graph = fx::parse_text(fx::model_text("a, w", "b = torch.nn.functional.linear(a, w)\nreturn (b,)"));
  ASSERT_TRUE(graph);
  EXPECT_EQ(fx::dump(with_casts(*graph, ir::DType::Float16, Json::object())), fx::dump(graph));
}

TEST(DtypeVariant, KeepsAnnotations) {
  const auto graph = fx::parse_text(fx::model_text("a : torch.Tensor, w", "b = a + w\nreturn (b,)"));
  ASSERT_TRUE(graph);
  const ir::Graph made = with_casts(*graph, ir::DType::Float16, Json::object());
  EXPECT_EQ(fx::print_model(made), fx::print_model(*graph));
  ASSERT_EQ(made.args(0).size(), 1u);
  EXPECT_EQ(made.args(0)[0].string(), "torch.Tensor");
  EXPECT_TRUE(made.args(1).empty());
}

}  // namespace
}  // namespace passnet::analysis
