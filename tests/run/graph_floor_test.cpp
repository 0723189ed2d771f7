#include "run/evaluate/graph_floor.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::run {
namespace {

using record::Arithmetic;

/// The arithmetic of a convolution of float32[1, 2, 4, 4] by float32[2, 2, 1, 1] and a sum of float16[8] and int64[8].
std::vector<Arithmetic> arithmetic_on(std::vector<record::ProductSpeed> products) {
  const auto graph =
      fx::parse_text(fx::model_text("a, w, h, i", "c = torch.conv2d(a, w)\ns = h + h\nj = i + i\nreturn (c, s, j)"));
  EXPECT_TRUE(graph) << to_string(graph.error());
  ir::Values types(graph->size());
  for (ir::NodeId id = 0; id < graph->size(); ++id) {
    const std::string_view name = graph->node(id).name;
    if (name == "a" || name == "c") types[id].is = ir::contiguous(ir::DType::Float32, {1, 2, 4, 4});
    if (name == "w") types[id].is = ir::contiguous(ir::DType::Float32, {2, 2, 1, 1});
    if (name == "h" || name == "s") types[id].is = ir::contiguous(ir::DType::Float16, {8});
    if (name == "i" || name == "j") types[id].is = ir::contiguous(ir::DType::Int64, {8});
  }
  const Calibration machine{kCalibrationVersion, "scripted", 1, "", {{1 << 20, 10}}, std::move(products)};
  const record::Floor floor = graph_floor(*graph, types, {true, true, true}, machine, 1e6);
  EXPECT_GT(floor.bytes, 0);
  EXPECT_EQ(floor.gb_per_s, 10);
  return floor.arithmetic.value();
}

TEST(GraphFloor, CountsFloatingOperationsAtTheSpeedsMeasured) {
  EXPECT_EQ(arithmetic_on({{"float32", 100}, {"float16", 20}}),
            (std::vector<Arithmetic>{{"float16", 8, 100}, {"float32", 2 * 32 * 2, 100}}))
      << "float16 may be computed in float32";
  EXPECT_EQ(arithmetic_on({{"float16", 20}}), (std::vector<Arithmetic>{{"float16", 8, 20}, {"float32", 2 * 32 * 2, 0}}))
      << "not measured";
}

TEST(GraphFloor, HoldsConvolutionsAgainstTf32WherePyTorchUsesIt) {
  EXPECT_EQ(arithmetic_on({{"float32", 100}, {"float16", 900}, {record::kTf32, 500}}),
            (std::vector<Arithmetic>{{"float16", 8, 900}, {"tf32", 2 * 32 * 2, 500}}));
}

}  // namespace
}  // namespace passnet::run
