// Which inputs of a pass its kernels may write, by what the graph does with them.
#include "run/apply/overwrites.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/file/file.h"
#include "fx/graph_text.h"
#include "ir/ops/table.h"
#include "ir/tensor_type.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;

constexpr char kSigmoid[] = R"(import torch

def pattern(x):
    return torch.sigmoid(x)

def replacement_args(x):
    return (x,)

def plan(x):
    k[(1,)](x, x)
    return x

def replacement_func():
    return plan
)";

constexpr char kCopy[] = R"(import torch

def pattern(x, y):
    return torch.tanh(x) + y

def replacement_args(x, y):
    return (x, y)

def plan(x, y):
    return x.copy_(y)

def replacement_func():
    return plan
)";

class Overwrites : public testing::Test {
 protected:
  /// Of a graph with the arguments a and b, rewritten by one pass: "may write" or "read-only" of each input of each site,
  /// in order; or the error.
  std::string of(const std::string& body, const std::string& pass_text = kSigmoid) {
    const fs::path path = scratch_.path / "p.py";
    EXPECT_TRUE(write_file(path, pass_text));
    std::vector<pass::Pass> passes{pass::load_pass(path).value()};
    const ir::Graph graph = fx::parse_text(fx::model_text("a, b", body)).value();
    const TraceFn trace = [](const ir::Graph& traced, const std::vector<pass::LaunchList>&) -> Result<Values> {
      Values values(traced.size());
      for (ir::NodeId id = 0; id < traced.size(); ++id)
        if (traced.node(id).target != ir::kFusedTarget) values[id].is = ir::contiguous(ir::DType::Float32, {4, 8});
      return values;
    };
    GraphBudgets budgets;
    const Result<Rewritten> rewritten = apply_passes(graph, passes, trace, {}, {}, budgets);
    if (!rewritten) return rewritten.error().message;
    std::string text;
    for (const pass::LaunchList& list : rewritten->lists) {
      for (const pass::Buffer& buffer : list.buffers) {
        if (buffer.input < 0) continue;
        text += (text.empty() ? "" : ", ") + std::string(buffer.is_read_only() ? "read-only" : "may write");
      }
    }
    return text;
  }

 private:
  const ScratchDirectory scratch_;
};

TEST_F(Overwrites, AValueThatOnlyThePatternReadsMayBeWritten) {
  EXPECT_EQ(of("c = a + b\nd = torch.sigmoid(c)\nreturn (d,)"), "may write");
  EXPECT_EQ(of("c = a + b\ne = c * 2\nd = torch.sigmoid(c)\nreturn (d, e)"), "may write") << "read before";
}

TEST_F(Overwrites, AValueThatIsReadLaterMayNot) {
  EXPECT_EQ(of("c = a + b\nd = torch.sigmoid(c)\ne = c * 2\nreturn (d, e)"), "read-only");
  EXPECT_EQ(of("c = a + b\nd = torch.sigmoid(c)\nreturn (d, c)"), "read-only");
  EXPECT_EQ(of("c = a + b\nv = c.view(-1)\nd = torch.sigmoid(c)\nreturn (d, v)"), "read-only") << "through a view";
  EXPECT_EQ(of("c = a + b\nv = c.view(32)\nd = torch.sigmoid(v)\ne = c * 2\nreturn (d, e)"), "read-only");
}

TEST_F(Overwrites, AnInputOfTheGraphMayWhereTheGraphWritesItToo) {
  EXPECT_EQ(of("d = torch.sigmoid(a)\nreturn (d,)"), "read-only");
  EXPECT_EQ(of("v = a.view(-1)\nd = torch.sigmoid(v)\nreturn (d,)"), "read-only");
  EXPECT_EQ(of("a += b\nc = a\nd = torch.sigmoid(c)\nreturn (d,)"), "may write");
  EXPECT_EQ(of("b += a\nd = torch.sigmoid(a)\nreturn (d,)"), "read-only");
}

TEST_F(Overwrites, WhatAnEarlierSiteReturnedOfItsInputsCountsAsThatInput) {
  // Both plans return their input: c, d and e are one memory.
  EXPECT_EQ(of("c = a + b\nd = torch.sigmoid(c)\ne = torch.sigmoid(d)\nreturn (e,)"), "may write, may write");
  EXPECT_EQ(of("c = a + b\nd = torch.sigmoid(c)\ne = torch.sigmoid(d)\nreturn (e, d)"), "may write, read-only");
  EXPECT_EQ(of("d = torch.sigmoid(a)\ne = torch.sigmoid(d)\nreturn (e,)"), "read-only, read-only");
}

TEST_F(Overwrites, APlanThatCopiesIntoAnInputThatIsNeededIsRefused) {
  EXPECT_EQ(of("c = a + b\nd = torch.tanh(c)\ne = d + b\nreturn (e,)", kCopy), "may write, read-only");
  EXPECT_EQ(of("d = torch.tanh(a)\ne = d + b\nreturn (e,)", kCopy),
            "copy_ writes input 0 of the pass, which is needed afterwards");
}

}  // namespace
}  // namespace passnet::run
