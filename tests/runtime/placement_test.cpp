// Where the tensors of a graph lie. The meta device stands in for a GPU: what is not put there explicitly stays on the
// CPU.
#include "runtime/tensor/placement.h"

#include <ATen/ops/empty.h>
#include <ATen/ops/zeros.h>
#include <c10/core/InferenceMode.h>
#include <gtest/gtest.h>

#include "fx/syntax/parser.h"
#include "runtime/lower/lower.h"
#include "runtime/plan/plan.h"
#include "runtime/tensor/compare.h"

namespace passnet::runtime {
namespace {

class Placement : public testing::Test {
 protected:
  void SetUp() override { set_graph_device(c10::Device(c10::kMeta)); }
  void TearDown() override { set_graph_device(c10::Device(c10::kCPU)); }

  /// What a graph of x, of four floats on the graph's device, returns.
  std::vector<c10::IValue> outputs(const std::string& line) {
    const c10::InferenceMode mode;
    const std::string text =
        "import torch\nfrom torch import device\n\nclass GraphModule(torch.nn.Module):\n\n    def forward(self, x):\n  "
        "      y = " +
        line + "\n        return (y,)\n";
    const Result<ir::Graph> graph = fx::parse_model("model.py", std::make_shared<const std::string>(text));
    EXPECT_TRUE(graph) << to_string(graph.error());
    Result<Plan> plan = Plan::build(*graph, kLowerer, nullptr);
    EXPECT_TRUE(plan) << to_string(plan.error());
    plan->set_input(0, at::empty({4}, at::TensorOptions().device(graph_device())));
    const Result<void> done = plan->run();
    EXPECT_TRUE(done) << line << ": " << (done ? "" : to_string(done.error()));
    return plan->outputs();
  }
};

TEST_F(Placement, OfTensorsMadeInAGraphIsItsDevice) {
  for (const char* line : {
           "torch.arange(14)",
           "torch.arange(2, 14, 3, dtype = torch.float32)",
           "torch.zeros(1, 4, 3)",
           "torch.ones((2, 3), dtype = torch.int64)",
           "torch.full((2, 2), 0.5)",
           "torch.linspace(0, 1, 5)",
           "torch.zeros((2,), device = device(type='cpu'))",
           "torch.zeros_like(x)",
           "x.new_zeros((3,))",
           "torch.tensor([1, 2, 3])",
           "torch.tensor([[0.5, 2.0]], dtype = torch.float16)",
           "torch.tensor([x.size(0), 3])",
           "torch.as_tensor([1.0, 2.0])",
           "x.new_tensor([1.0, 2.0])",
           "torch.tensor(x.shape)",
       }) {
    EXPECT_EQ(first_elsewhere(outputs(line), graph_device()), std::nullopt) << line;
  }
}

TEST_F(Placement, OfNumbersAsTensorsIsTheCpuFromWhereEveryOperatorTakesThem) {
  for (const char* line : {"torch.tensor(0.5)", "torch.tensor(x.size(0))"})
    EXPECT_EQ(first_elsewhere(outputs(line), c10::Device(c10::kCPU)), std::nullopt) << line;
  EXPECT_EQ(first_elsewhere(outputs("x + torch.tensor(0.5)"), graph_device()), std::nullopt);
}

TEST_F(Placement, OfAnOutputElsewhereIsFound) {
  const at::Tensor here = at::empty({2}, at::TensorOptions().device(graph_device()));
  EXPECT_EQ(first_elsewhere({here, int64_t{3}, at::zeros({2})}, graph_device()), 2u);
  EXPECT_EQ(first_elsewhere({here, int64_t{3}, at::Tensor(), here}, graph_device()), std::nullopt);
}

TEST(SameBytes, AreThoseOfOneShape) {
  const at::Tensor zeros = at::zeros({2, 3});
  EXPECT_TRUE(same_bytes(zeros, at::zeros({2, 3})));
  EXPECT_FALSE(same_bytes(zeros, at::zeros({3, 2})));
  EXPECT_FALSE(same_bytes(zeros, at::zeros({2, 3}).fill_(-0.0)));
  EXPECT_FALSE(same_bytes(zeros.t(), at::zeros({3, 2})));
  EXPECT_TRUE(same_bytes(at::zeros({0}), at::zeros({0})));
}

}  // namespace
}  // namespace passnet::runtime
