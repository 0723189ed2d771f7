// Calls that a worker would refuse, found without PyTorch.
#include "ir/ops/calls.h"

#include <gmock/gmock.h>

#include <memory>
#include <string>

#include "fx/syntax/parser.h"
#include "ir/ops/table.h"

namespace passnet::ir {
namespace {

/// What is said of `r = CALL` in a graph of x and y.
std::string said_of(const std::string& call) {
  const Result<Graph> graph = fx::parse_model(
      "model.py", std::make_shared<const std::string>("import torch, math\n\nclass GraphModule(torch.nn.Module):\n"
                                                      "    def forward(self, x, y):\n        r = " +
                                                      call + "\n        return (r,)\n"));
  if (!graph) return to_string(graph.error());
  const Result<void> checked = check_calls(*graph);
  return checked ? "fine" : to_string(checked.error());
}

TEST(CheckCalls, AllowsWhatAWorkerKnows) {
  for (const char* call : {"x + y",
                           "torch.add(x, y, alpha = 2)",
                           "torch.add(x, y, out = None)",
                           "x.view(2, -1)",
                           "x.view((2, -1))",
                           "torch.sum(x, dim = 0, keepdim = True)",
                           "torch.sum(input = x)",
                           "torch.sum(x, axis = 0)",
                           "x.to(torch.float16)",
                           "torch.zeros(2, 3, device = 'cpu', requires_grad = False)",
                           "torch.nn.functional.ctc_loss(x, y, x, y)",
                           "torch.norm(x, p = 2)",
                           "torch.functional.norm(x)",
                           "torch.ops.aten.add.Tensor(x, y)",
                           "torch.ops.aten.native_layer_norm.default(x, [4], None, None, 1e-05)",
                           "torch.linalg.norm(x)",
                           "math.sqrt(4.0)",
                           "torch._VF.lstm(x, y)",
                           "torch.set_grad_enabled(False)",
                           "x.T"})
    EXPECT_EQ(said_of(call), "fine") << call;
}

TEST(CheckCalls, NamesTargetsThatAreNotKnownOrNotRun) {
  EXPECT_EQ(said_of("torch.nn.functional.gelo(x)"),
            "model.py:5:13: error: unknown operator 'torch.nn.functional.gelo'\n"
            "hint: did you mean 'torch.nn.functional.gelu'?");
  EXPECT_EQ(said_of("x.vew(2)"), "model.py:5:13: error: unknown method 'vew'\nhint: did you mean 'view'?");
  EXPECT_EQ(said_of("torch.ops.aten.no_such.default(x)"),
            "model.py:5:13: error: unknown operator 'torch.ops.aten.no_such.default'");
  EXPECT_EQ(said_of("torch.ops.torchvision.nms.default(x, y, 0.5)"),
            "model.py:5:13: error: operator 'torch.ops.torchvision.nms.default' is not run: it belongs to a library of "
            "operators that the worker does not load: aten is the one it has");
  EXPECT_EQ(
      said_of("x.numpy()"),
      "model.py:5:13: error: method 'numpy' is not run: its result is no value of PyTorch's that a graph could go "
      "on with");
}

TEST(CheckCalls, NamesArgumentsThatFitNoSignature) {
  EXPECT_EQ(said_of("torch.nn.functional.ctc_loss(x, y, x)"),
            "model.py:5:13: error: torch.nn.functional.ctc_loss() misses parameter 'target_lengths'");
  EXPECT_EQ(said_of("torch.relu(x, slope = 2)"),
            "model.py:5:13: error: torch.relu() has no parameter 'slope'\nhint: it takes: input");
  EXPECT_EQ(said_of("math.sqrt(4.0, 2.0)"),
            "model.py:5:13: error: math.sqrt() takes at most 1 positional arguments, found 2");
  EXPECT_EQ(said_of("torch.nn.functional.normalize(x, input = x)"),
            "model.py:5:13: error: torch.nn.functional.normalize() got parameter 'input' twice");
}

TEST(CheckCalls, AllowsEachSpellingOfTheTable) {
  for (const std::string_view target : op_table().targets()) {
    const bool method = target.starts_with("Tensor.");
    Graph graph;
    graph.add_node(method ? NodeKind::CallMethod : NodeKind::CallFunction, method ? target.substr(7) : target, "r", {},
                   {});
    const Result<void> checked = check_calls(graph);
    EXPECT_TRUE(checked || !checked.error().message.starts_with("unknown")) << target;
  }
}

}  // namespace
}  // namespace passnet::ir
