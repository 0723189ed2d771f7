// Plans that call PyTorch: what a plan goes on with, and the pieces that it is split into.
#include "pass/plan/library_call.h"

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fx/print.h"
#include "ir/ops/table.h"
#include "pass/plan/segments.h"
#include "tests/pass/plan_support.h"

namespace passnet::pass {
namespace {

using test::plan_text;
using test::tensor;
using testing::HasSubstr;

/// As PyTorch types a few operators.
Result<ir::Value> type_of(const LibraryCall& call) {
  const ir::Graph& graph = call.graph;
  const std::string_view name = ir::canonical_name(graph.node(call.node()));
  const ir::TensorType& first = call.inputs.at(0).type;
  ir::Value value;
  if (name == "matmul") {
    value.is = tensor({first.shape[0], call.inputs.at(1).type.shape[1]});
  } else if (name == "chunk") {
    value.is = ir::Value::List{ir::Value{tensor({first.shape[0], first.shape[1] / 2}), {}},
                               ir::Value{tensor({first.shape[0], first.shape[1] / 2}), {}}};
  } else if (name == "nonzero") {
    value.is = ir::Value::Unknown{"it depends on data"};
  } else if (name == "item") {
    value.is = 1.5;
  } else {
    value.is = first;
  }
  return value;
}

Result<std::variant<PlanResult, Declined>> evaluate(const std::string& parameters, const std::string& body,
                                                    const std::vector<SiteInput>& inputs, size_t outputs = 1,
                                                    const std::string& top = "") {
  const std::string text = "import torch\nimport torch.nn.functional as F\n" + plan_text(parameters, body, top);
  auto file = parse_pass_file("P.py", std::make_shared<const std::string>(text));
  if (!file) return file.error();
  Budget steps(kLoading);
  const auto plan = make_plan({*file}, {.allow_library = true}, steps);
  if (!plan) return plan.error();
  PlanOptions options;
  options.library_types = type_of;
  return evaluate_plan(*plan, "P", inputs, outputs, options);
}

PlanResult expect_plan(const Result<std::variant<PlanResult, Declined>>& evaluated) {
  if (!evaluated) {
    ADD_FAILURE() << to_string(evaluated.error());
    return {};
  }
  return std::get<PlanResult>(*evaluated);
}

/// "in0", "p1.0": an input of the site, output 0 of piece 1.
std::string text_of(const SiteTensor& tensor) {
  if (tensor.piece == SiteTensor::kInput) return fmt::format("in{}", tensor.index);
  return fmt::format("p{}.{}", tensor.piece, tensor.index);
}

std::string text_of(const std::vector<SiteTensor>& tensors) {
  std::vector<std::string> texts;
  for (const SiteTensor& tensor : tensors) texts.push_back(text_of(tensor));
  return fmt::format("({})", fmt::join(texts, ", "));
}

/// "k k (in0) | matmul(p0.0, in1) | k (p1.0) -> (p2.0)": kernels of a list or a call, with inputs; then the outputs.
std::string pieces(const PlanResult& plan) {
  const Segments segments = split_at_calls(plan.list, plan.calls);
  std::vector<std::string> texts;
  for (const Piece& piece : segments.pieces) {
    std::string text;
    if (piece.list) {
      for (const Launch& launch : piece.list->launches) text += launch.kernel + " ";
      text += piece.list->launches.empty() ? "memory " : "";
    } else {
      text = plan.calls[piece.call].name;
    }
    texts.push_back(text + text_of(piece.inputs));
  }
  return fmt::format("{} -> {}", fmt::join(texts, " | "), text_of(segments.outputs));
}

TEST(LibraryCall, StandsBetweenTheLaunchesAroundIt) {
  const PlanResult plan = expect_plan(evaluate("x, w",
                                               "    a = torch.empty_like(x)\n"
                                               "    k[(1,)](x, a)\n"
                                               "    y = torch.matmul(a, w)\n"
                                               "    out = torch.empty_like(y)\n"
                                               "    k[(1,)](y, out, y.shape[1])\n"
                                               "    return out\n",
                                               {tensor({2, 3}), tensor({3, 5})}));
  EXPECT_EQ(pieces(plan), "k (in0) | torch.matmul(p0.0, in1) | k (p1.0) -> (p2.0)");
  ASSERT_EQ(plan.calls.size(), 1u);
  EXPECT_EQ(plan.calls[0].at.line, 8u);
  EXPECT_EQ(std::get<int64_t>(plan.list.launches[1].args[2]), 5);
  const Segments segments = split_at_calls(plan.list, plan.calls);
  const LaunchList& first = *segments.pieces[0].list;
  EXPECT_EQ(first.buffers.size(), 2u) << "the input and what is handed on";
  EXPECT_EQ(first.outputs, (std::vector<View>{{1, 0, tensor({2, 3})}}));
}

TEST(LibraryCall, WithoutOneAPlanIsOnePiece) {
  const PlanResult plan = expect_plan(
      evaluate("x", "    out = torch.empty_like(x)\n    k[(1,)](x, out)\n    return out, x\n", {tensor({2, 3})}, 2));
  EXPECT_EQ(pieces(plan), "k (in0) -> (p0.0, p0.1)");
}

TEST(LibraryCall, OperatorsAndMethodsAndResultsInArguments) {
  const PlanResult plan = expect_plan(
      evaluate("x, w", "    return (-(x @ w) + 1).softmax(dim=-1) > 0.5\n", {tensor({2, 3}), tensor({3, 5})}));
  EXPECT_EQ(pieces(plan), "@(in0, in1) | neg(p0.0) | +(p1.0) | Tensor.softmax(p2.0) | >(p3.0) -> (p4.0)");
  EXPECT_EQ(fx::print_node(plan.calls[3].graph, plan.calls[3].graph.node(plan.calls[3].node())),
            "called = t0.softmax(dim = -1)");
}

TEST(LibraryCall, TuplesAreTakenApart) {
  const PlanResult plan = expect_plan(evaluate("x",
                                               "    left, right = x.chunk(2, dim=1)\n"
                                               "    k[(1,)](right)\n"
                                               "    return right, left\n",
                                               {tensor({2, 6})}, 2));
  EXPECT_EQ(pieces(plan), "Tensor.chunk(in0) | k (p0.1) -> (p1.0, p0.0)");
}

TEST(LibraryCall, ViewsOfInputsAndResultsAreOutputsOfAList) {
  const PlanResult plan = expect_plan(evaluate("x, w",
                                               "    y = x[:, 1:] @ w\n"
                                               "    return y.t(), y\n",
                                               {tensor({2, 4}), tensor({3, 5})}, 2));
  EXPECT_EQ(pieces(plan), "memory (in0) | @(p0.0, in1) | memory (p1.0) -> (p2.0, p2.1)");
}

TEST(LibraryCall, MemoryGoesFromListToList) {
  // y is written before and after the call, which reads it as it is then; z is filled and never touched by a kernel.
  const PlanResult plan = expect_plan(evaluate("x",
                                               "    y = torch.empty_like(x)\n"
                                               "    k[(1,)](x, y)\n"
                                               "    z = torch.zeros_like(x)\n"
                                               "    s = torch.add(y, z)\n"
                                               "    k[(1,)](s, y)\n"
                                               "    return y\n",
                                               {tensor({2, 3})}));
  EXPECT_EQ(pieces(plan), "k (in0) | torch.add(p0.0, p0.1) | k (p1.0, p0.0) -> (p2.0)");
  const Segments segments = split_at_calls(plan.list, plan.calls);
  EXPECT_EQ(segments.pieces[0].list->buffers.back().fill, 0.0);
  EXPECT_EQ(segments.pieces[2].list->outputs[0].buffer, 1u) << "y as the second kernel left it, an input of its list";
}

TEST(LibraryCall, ReplacementArgsMayCallToo) {
  const std::string text =
      "import torch\n"
      "def replacement_args(x, w):\n    return (torch.matmul(x, w),)\n"
      "def plan(y):\n    k[(1,)](y)\n    return y\n"
      "def replacement_func():\n    return plan\n";
  auto file = parse_pass_file("P.py", std::make_shared<const std::string>(text));
  ASSERT_TRUE(file);
  Budget steps(kLoading);
  const auto plan = make_plan({*file}, {.allow_library = true}, steps);
  ASSERT_TRUE(plan);
  PlanOptions options;
  options.library_types = type_of;
  const auto evaluated = evaluate_plan(*plan, "P", {tensor({2, 3}), tensor({3, 5})}, 1, options);
  EXPECT_EQ(pieces(expect_plan(evaluated)), "torch.matmul(in0, in1) | k (p0.0) -> (p1.0)");
}

TEST(LibraryCall, WhatAPlanCannotCall) {
  const auto message = [](const std::string& body, const std::string& top = "") {
    return test::error_text(evaluate("x, w", body, {tensor({2, 3}), tensor({3, 5})}, 1, top));
  };
  EXPECT_EQ(message("    return x.add_(1)\n"),
            "P.py:6:14: error: outside the plan language: 'Tensor.add_' overwrites a tensor\n"
            "hint: call what gives a new tensor: torch.relu(x), not torch.relu_(x) or inplace=True");
  EXPECT_EQ(message("    x += w\n    return x\n"),
            "P.py:6:5: error: outside the plan language: '+=' overwrites a tensor\nhint: write 'x = x + y', which "
            "gives a new tensor");
  EXPECT_EQ(message("    return torch.nonzero(x)\n"),
            "P.py:6:18: error: cannot tell what 'torch.nonzero' gives: it depends on data\n"
            "hint: a plan knows shapes and dtypes, and no data");
  EXPECT_EQ(message("    return x.sum().item()\n"),
            "P.py:6:20: error: 'Tensor.item' gives float, expected a tensor or a tuple of tensors");
  EXPECT_THAT(message("    return F.conv2d(x)\n"),
              HasSubstr("torch.nn.functional.conv2d: conv2d needs argument 'weight'"));
  EXPECT_THAT(message("    return torch.ops.aten.empty_like(x)\n"),
              HasSubstr("'torch.ops.aten.empty_like' gives memory that nobody wrote"));
  EXPECT_EQ(message("    return torch.add(x, plan)\n"),
            "P.py:6:18: error: argument of 'torch.add': found function, expected a tensor, number, bool, string, "
            "dtype, None, "
            "or a tuple or list of them");
  EXPECT_EQ(message("    torch._C._set_grad_enabled(False)\n    return x\n"),
            "P.py:6:14: error: outside the plan language: 'torch._C._set_grad_enabled' changes how other calls run\n"
            "hint: cast with '.to(dtype)' where another type is wanted");
  EXPECT_EQ(message("    if 0 < x < 1:\n        return x\n    return w\n"),
            "P.py:6:10: error: a chain of comparisons asks for the truth of a tensor's data");
  EXPECT_THAT(message("    t = [torch.zeros(1) for i in range(9)]\n    for i in range(1000):\n        y = "
                      "torch.stack(t)\n    return y\n"),
              HasSubstr("a plan may give PyTorch 8192 tensors in all, this call brings them to 8199"));
  EXPECT_THAT(message("    return x if x > 0 else w\n"), HasSubstr("P.py:6:"));
  EXPECT_THAT(message("    return x\n", "c = torch.ones(2) + 1\n"), HasSubstr("found '+' where no site is known"));
  EXPECT_THAT(message("    for i in range(1025):\n        x = x + 1\n    return x\n"),
              HasSubstr("a plan may call PyTorch 1024 times, this is one more"));
}

TEST(LibraryCall, IsRefusedByDefaultWithWhatAllowsIt) {
  const std::string top = "import torch\n";
  const auto evaluated =
      test::run_plan(top + plan_text("x, w", "    return x @ w\n"), {tensor({2, 3}), tensor({3, 5})});
  EXPECT_EQ(test::error_text(evaluated),
            "P.py:5:14: error: operator '@' does not take tensor float32[2, 3] and tensor float32[3, 5]\n"
            "hint: compute it in a kernel, or give '--allow-library', which lets PyTorch compute it and says so in the "
            "record");
  EXPECT_EQ(evaluated.error().failure, "library-call");
  const auto called =
      test::run_plan(top + plan_text("x, w", "    return torch.matmul(x, w)\n"), {tensor({2, 3}), tensor({3, 5})});
  EXPECT_THAT(test::error_text(called), HasSubstr("outside the plan language: found 'torch.matmul()'\nhint: compute it "
                                                  "in a kernel, or give '--allow-library'"));
  EXPECT_EQ(called.error().failure, "library-call");
  const auto method =
      test::run_plan(top + plan_text("x, w", "    y = x\n    return y.sum()\n"), {tensor({2, 3}), tensor({3, 5})});
  EXPECT_EQ(method.error().failure, "library-call") << test::error_text(method);
}

}  // namespace
}  // namespace passnet::pass
