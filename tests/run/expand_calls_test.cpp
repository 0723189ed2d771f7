// Plans that call PyTorch, in the graph: which nodes they become, what is matched and what may be written.
#include "run/apply/expand_calls.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "fx/graph_text.h"
#include "fx/print.h"
#include "run/apply/passes.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;

constexpr char kLinear[] = R"(import torch

def pattern(x, w):
    return torch.relu(x @ w)

def replacement_args(x, w):
    return (x, w)

def plan(x, w):
    half = torch.empty_like(x)
    k[(1,)](x, half)
    y = half @ w
    k[(1,)](y, y)
    return y

def replacement_func():
    return plan
)";

constexpr char kReplay[] = R"(import torch

def pattern(x, w):
    return x @ w

def replacement_args(x, w):
    return (x, w)

def plan(x, w):
    return torch.matmul(x, w)

def replacement_func():
    return plan
)";

class ExpandCalls : public testing::Test {
 protected:
  static ir::TensorType type() { return ir::contiguous(ir::DType::Float32, {4, 4}); }

  Result<Rewritten> apply(const std::string& body, const std::vector<std::string>& texts) {
    std::vector<pass::Pass> passes;
    for (const std::string& text : texts) {
      const fs::path path = scratch_.path / ("p" + std::to_string(passes.size()) + ".py");
      EXPECT_TRUE(write_file(path, text));
      passes.push_back(pass::load_pass(path, {.allow_library = true}).value());
    }
    const ir::Graph graph = fx::parse_text(fx::model_text("a, b", body)).value();
    const TraceFn trace = [&](const ir::Graph& traced, const std::vector<pass::LaunchList>&) -> Result<Values> {
      Values values(traced.size());
      for (ir::NodeId id = 0; id < traced.size(); ++id) values[id].is = traced_;
      return values;
    };
    pass::PlanOptions plans;
    plans.library_types = [](const pass::LibraryCall&) -> Result<ir::Value> { return ir::Value{type(), {}}; };
    GraphBudgets budgets;
    return apply_passes(graph, passes, trace, {}, plans, budgets);
  }

  /// The statements between the signature and `return`.
  static std::vector<std::string> statements(const Rewritten& rewritten) {
    std::vector<std::string> lines;
    for (const ir::Node& node : rewritten.graph.nodes())
      if (node.kind != ir::NodeKind::Placeholder) lines.push_back(fx::print_node(rewritten.graph, node));
    return lines;
  }

  ir::TensorType traced_ = type();

 private:
  const ScratchDirectory scratch_;
};

TEST_F(ExpandCalls, LaunchListsAndCallsAreNodesInOrder) {
  const auto rewritten = apply("c = a @ b\nd = torch.relu(c)\nreturn (d,)", {kLinear});
  ASSERT_TRUE(rewritten) << to_string(rewritten.error());
  EXPECT_THAT(statements(*rewritten),
              testing::ElementsAre("fused_1 = passnet.fused(0, a)", "part = fused_1[0]", "called = part @ b",
                                   "fused_2 = passnet.fused(1, called)", "part_1 = fused_2[0]", "return (part_1,)"));
  ASSERT_EQ(rewritten->lists.size(), 2u);
  EXPECT_EQ(rewritten->pass_of_list, (std::vector<size_t>{0, 0}));
  EXPECT_TRUE(rewritten->lists[0].buffers[0].is_read_only()) << "an input of the graph";
  EXPECT_FALSE(rewritten->lists[1].buffers[0].is_read_only()) << "what PyTorch gave, which nobody else needs";
  const record::PassOutcome& outcome = rewritten->outcomes[0];
  EXPECT_EQ(outcome.library_calls, (std::vector<record::LibraryCall>{{"@", 12, 1}}));
  EXPECT_EQ(outcome.replays, 0);
  EXPECT_THAT(outcome.idle, testing::IsEmpty());
}

TEST_F(ExpandCalls, NoPassMatchesWhatAnotherOneCalls) {
  const auto rewritten = apply("c = a @ b\nd = torch.relu(c)\ne = d @ b\nreturn (e,)", {kLinear, kReplay});
  ASSERT_TRUE(rewritten) << to_string(rewritten.error());
  EXPECT_EQ(rewritten->outcomes[0].matches, 1);
  EXPECT_EQ(rewritten->outcomes[1].matches, 1) << "the product of the graph, not that of the plan";
  EXPECT_EQ(rewritten->outcomes[1].replays, 1);
  EXPECT_THAT(rewritten->outcomes[1].idle,
              testing::ElementsAre("the plan launches no kernel of its own: PyTorch computes all of it"));
  EXPECT_THAT(statements(*rewritten), testing::Contains("called_1 = torch.matmul(part_1, b)"));
}

TEST_F(ExpandCalls, CallsOfSeveralSitesAreCountedByPlace) {
  const auto rewritten = apply("c = a @ b\nd = b @ a\nreturn (c, d)", {kReplay});
  ASSERT_TRUE(rewritten) << to_string(rewritten.error());
  EXPECT_EQ(rewritten->outcomes[0].library_calls, (std::vector<record::LibraryCall>{{"torch.matmul", 10, 2}}));
  EXPECT_EQ(rewritten->outcomes[0].replays, 2);
  EXPECT_TRUE(rewritten->lists.empty());
}

TEST_F(ExpandCalls, OtherTypesThanThePlanSawAreAnError) {
  traced_.shape = {4, 2};
  traced_.strides = {2, 1};
  const auto rewritten = apply("c = a @ b\nreturn (c,)", {kReplay});
  ASSERT_FALSE(rewritten);
  EXPECT_THAT(
      to_string(rewritten.error()),
      testing::HasSubstr("p0.py:10:18: error: 'torch.matmul' gives float32[4, 2] on the graph's values, and other "
                         "sizes or strides on zeros\nhint: what a plan calls must give the same shape"));
}

TEST_F(ExpandCalls, AGraphWithoutCallsKeepsItsNodesAndItsText) {
  const ir::Graph graph = fx::parse_text(fx::model_text("a", "b = torch.relu(a)\nreturn (b,)")).value();
  const Expanded expanded = expand_calls(graph, {});
  EXPECT_TRUE(ir::equal(expanded.graph, graph));
  EXPECT_EQ(expanded.graph.source, graph.source);
}

}  // namespace
}  // namespace passnet::run
