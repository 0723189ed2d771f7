#include "analysis/dtype_variant.h"

#include <gtest/gtest.h>

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
  const ir::Value half{ir::TensorType{ir::DType::Float16, {}, {}}, {}};
  const ir::Values types{half, half, {ir::TensorType{ir::DType::Float32, {}, {}}, {}}, half, half};
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
  EXPECT_EQ(fx::dump(with_casts(*graph, ir::DType::Float16, {})), fx::dump(graph));
}

TEST(DtypeVariant, KeepsAnnotations) {
  const auto graph = fx::parse_text(fx::model_text("a : torch.Tensor, w", "b = a + w\nreturn (b,)"));
  ASSERT_TRUE(graph);
  const ir::Graph made = with_casts(*graph, ir::DType::Float16, {});
  EXPECT_EQ(fx::print_model(made), fx::print_model(*graph));
  ASSERT_EQ(made.args(0).size(), 1u);
  EXPECT_EQ(made.args(0)[0].string(), "torch.Tensor");
  EXPECT_TRUE(made.args(1).empty());
}

}  // namespace
}  // namespace passnet::analysis
