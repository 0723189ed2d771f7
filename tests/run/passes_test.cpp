// Passes applied to a graph, with what a trace would tell made up: no worker.
#include "run/apply/passes.h"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "fx/graph_text.h"
#include "ir/tensor_type.h"
#include "run/apply/build_kernels.h"
#include "run/apply/library_types.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;

constexpr char kPass[] = R"(import torch

def pattern(x):
    return torch.relu(x)

def replacement_args(x):
    return (x,)

def plan(x):
    out = torch.empty_like(x)
    if not x.is_contiguous() and x.numel() == 6:
        return NotImplemented
    if x.is_cuda:
        gpu_kernel[(1,)](x, out, x.stride(0))
    else:
        cpu_kernel[(1,)](x, out, x.stride(0))
    return out

def replacement_func():
    return plan
)";

class ApplyPasses : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(write_file(path_, kPass));
    Result<pass::Pass> pass = pass::load_pass(path_);
    ASSERT_TRUE(pass) << to_string(pass.error());
    passes_.push_back(std::move(*pass));
    const auto graph = fx::parse_text(fx::model_text("a", "b = torch.relu(a)\nreturn (b,)"));
    ASSERT_TRUE(graph) << to_string(graph.error());
    graph_ = *graph;
  }

  // The graph's argument is contiguous until it is rewritten, and has `strides` from then on, as if a pass before this
  // one had changed them.
  Result<Rewritten> apply(std::vector<int64_t> shape, std::vector<int64_t> strides, bool on_gpu) {
    int traces = 0;
    const TraceFn trace = [&](const ir::Graph& graph, const std::vector<pass::LaunchList>&) -> Result<Values> {
      Values values(graph.size());
      ir::TensorType type = ir::contiguous(ir::DType::Float32, shape);
      if (traces++ > 0) type.strides = strides;
      values[0].is = type;
      return values;
    };
    GraphBudgets budgets;
    return apply_passes(graph_, passes_, trace, {}, {on_gpu}, budgets);
  }

  const ScratchDirectory scratch_;
  const fs::path path_ = scratch_.path / "p.py";
  std::vector<pass::Pass> passes_;
  ir::Graph graph_;
};

TEST_F(ApplyPasses, EvaluatesAPlanAgainForTheSameKindOfProcessor) {
  for (const bool on_gpu : {false, true}) {
    const Result<Rewritten> rewritten = apply({4, 8}, {1, 4}, on_gpu);
    ASSERT_TRUE(rewritten) << to_string(rewritten.error());
    ASSERT_EQ(rewritten->lists.size(), 1u);
    const pass::Launch& launch = rewritten->lists[0].launches.at(0);
    EXPECT_EQ(launch.kernel, on_gpu ? "gpu_kernel" : "cpu_kernel");
    EXPECT_EQ(std::get<int64_t>(launch.args.at(2)), 1) << "the plan did not see the new strides";
  }
}

TEST_F(ApplyPasses, SaysThatAPassDeclinesWhatItHadAccepted) {
  const Result<Rewritten> rewritten = apply({2, 3}, {1, 2}, false);
  ASSERT_FALSE(rewritten);
  EXPECT_EQ(failure_kind(rewritten.error()), "bad-pass");
  EXPECT_EQ(to_string(rewritten.error()),
            path_.string() +
                ":12:9: error: pass 'p' accepted a site and declines it after later passes changed the strides "
                "of its inputs\nhint: put this pass after the others in sorted_output_pass_rule_names.json");
}

TEST_F(ApplyPasses, BuildsNoMoreKernelsThanTheLimit) {
  passes_[0].cpu_source = scratch_.path / "p.cpp";
  ASSERT_TRUE(write_file(passes_[0].cpu_source, ""));
  Rewritten rewritten;
  rewritten.pass_of_list = {0};
  rewritten.lists.emplace_back();
  for (const int64_t width : {1, 2, 2, 3}) {
    pass::Launch launch;
    launch.kernel = "cpu_kernel";
    launch.constants = {{"N", width}};
    launch.at = {path_.string(), 15, 9};
    rewritten.lists[0].launches.push_back(launch);
  }
  pass::BuildOptions options;
  options.most_builds = 2;
  const auto built = build_kernels(rewritten, passes_, options);
  ASSERT_FALSE(built);
  EXPECT_EQ(failure_kind(built.error()), "bad-pass");
  EXPECT_EQ(to_string(built.error()),
            path_.string() +
                ":15:9: error: the passes need 3 kernels built for this graph, more than the limit of 2\n"
                "hint: each set of constants (keywords of a launch) is a build of its own: pass what varies as an "
                "argument");
  options.most_builds = 3;  // then it is the kernel that is missing
  EXPECT_EQ(build_kernels(rewritten, passes_, options).error().message,
            "no kernel 'cpu_kernel' here: found no 'PASSNET_KERNEL cpu_kernel(…)'");
}

TEST_F(ApplyPasses, FailsAsTheTraceFails) {
  const TraceFn trace = [](const ir::Graph&, const std::vector<pass::LaunchList>&) -> Result<Values> {
    Error error = resource_error("too slow").with_failure("timeout");
    error.worker_lost = true;
    return error;
  };
  GraphBudgets budgets;
  const Result<Rewritten> rewritten = apply_passes(graph_, passes_, trace, {}, {}, budgets);
  ASSERT_FALSE(rewritten);
  EXPECT_EQ(rewritten.error().failure, "timeout");
  EXPECT_TRUE(rewritten.error().worker_lost);
}

TEST_F(ApplyPasses, AllSitesShareTheStepsOfAGraph) {
  std::string text = kPass;
  text.replace(text.find("    if x.is_cuda"), 0, "    for i in range(60000): pass\n");
  ASSERT_TRUE(write_file(path_, text));
  passes_ = {pass::load_pass(path_).value()};
  std::string body = "v0 = torch.relu(a)\n";
  for (int i = 1; i < 200; ++i) body += fmt::format("v{} = torch.relu(v{})\n", i, i - 1);
  graph_ = fx::parse_text(fx::model_text("a", body + "return (v199,)")).value();
  const TraceFn trace = [](const ir::Graph& graph, const std::vector<pass::LaunchList>&) -> Result<Values> {
    Values values(graph.size());
    for (ir::NodeId id = 0; id < graph.size(); ++id) values[id].is = ir::contiguous(ir::DType::Float32, {4});
    return values;
  };
  GraphBudgets budgets;
  const Result<Rewritten> rewritten = apply_passes(graph_, passes_, trace, {}, {}, budgets);
  ASSERT_FALSE(rewritten);
  EXPECT_EQ(failure_kind(rewritten.error()), "bad-pass");
  EXPECT_EQ(rewritten.error().message, "the plans of this graph take more than 10000000 steps");
  EXPECT_EQ(rewritten.error().at->line, 13u);
}

TEST_F(ApplyPasses, AnInterruptionIsNoFaultOfAPass) {
  const std::atomic<bool> interrupted = true;
  const TraceFn trace = [](const ir::Graph& graph, const std::vector<pass::LaunchList>&) -> Result<Values> {
    return Values(graph.size());
  };
  GraphBudgets budgets({.interrupted = &interrupted});
  const Result<Rewritten> rewritten = apply_passes(graph_, passes_, trace, {}, {}, budgets);
  ASSERT_FALSE(rewritten);
  EXPECT_EQ(failure_kind(rewritten.error()), "interrupted");
}

TEST_F(ApplyPasses, PyTorchIsAskedNothingWhenTheTimeIsUp) {
  Worker worker({});  // is not started: a request would fail as one of a worker that is gone
  GraphBudgets budgets({.time = std::chrono::milliseconds(0)});
  CallTypes types(worker, std::chrono::seconds(60), budgets.planning);
  pass::LibraryCall call;
  call.graph.add_placeholder("t0", "t0");
  const ir::Arg input = ir::Arg::of_node(0);
  call.graph.add_node(ir::NodeKind::CallFunction, "torch.relu", "called", std::span(&input, 1), {});
  call.inputs.push_back({0, 0, ir::contiguous(ir::DType::Float32, {4})});
  const Result<ir::Value> type = types.of(call);
  ASSERT_FALSE(type);
  EXPECT_EQ(type.error().message, "the plans of this graph take longer than 0 s");
}

}  // namespace
}  // namespace passnet::run
