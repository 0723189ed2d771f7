// Passes whose kernels are Triton's, from their files to launches that a GPU can make: no GPU is needed for that.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/file/file.h"
#include "ir/tensor_type.h"
#include "pass/source.h"
#include "pass/triton/build.h"
#include "run/apply/build_kernels.h"
#include "tests/scratch.h"

namespace passnet::run {
namespace {

namespace fs = std::filesystem;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr char kShared[] = R"(import torch
import triton
import triton.language as tl

_CACHE = {}
ROUND = tl.constexpr(2)

@triton.jit
def bent(x, slope):
    return tl.where(x > 0, x, x * slope) * ROUND

@triton.autotune(
    configs=[triton.Config({"BLOCK": b}, num_warps=w) for b, w in ((128, 2), (256, 4), (1024, 8))],
    key=["n"],
)
@triton.jit
def bent_kernel(x_ptr, out_ptr, n, slope, bias_ptr, BLOCK: tl.constexpr, HAS_BIAS: tl.constexpr = False):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at, mask=at < n, other=0.0).to(tl.float32)
    if HAS_BIAS:
        x += tl.load(bias_ptr)
    tl.store(out_ptr + at, bent(x, slope), mask=at < n)

def launch(x, route):
    key = (x.shape, x.dtype)
    if key not in _CACHE:
        _CACHE[key] = torch.empty_like(x)
    out = _CACHE[key]
    bent_kernel[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, out, x.numel(), 0.5, None)
    return out

@torch.fx.wrap
def dispatch(*args):
    route = args[-1]
    if route == "bent":
        return launch(*args)
    raise NotImplementedError(f"no route {route!r}")
)";

constexpr char kPass[] = R"(import os, sys
sys.path.insert(0, os.path.dirname(__file__))
import torch
import triton
import triton.language as tl
from bent_shared import dispatch
SLOPE = 0.01

def pattern(x):
    return torch.nn.functional.leaky_relu(x, SLOPE, False)

def replacement_args(x):
    return (x, "bent")

def replacement_func():
    return dispatch
)";

class TritonPlans : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto triton = pass::describe_triton("sm_90"); !triton)
      GTEST_SKIP() << "1 check skipped: " << to_string(triton.error());
  }
  void write(const char* name, const std::string& text) { ASSERT_TRUE(write_file(scratch_.path / name, text)); }
  /// The launch list of the pass for one input.
  Rewritten planned(const std::vector<pass::Pass>& passes, const ir::TensorType& type) {
    auto evaluated = pass::evaluate_plan(passes[0].plan, passes[0].name, {type}, 1, {.on_gpu = true});
    EXPECT_TRUE(evaluated) << to_string(evaluated.error());
    Rewritten rewritten;
    if (evaluated) rewritten.lists.push_back(std::get<pass::PlanResult>(*evaluated).list);
    rewritten.pass_of_list = {0};
    return rewritten;
  }
  pass::BuildOptions options() const {
    pass::BuildOptions made;
    made.cache_dir = scratch_.path / "cache";
    return made;
  }

  const ScratchDirectory scratch_;
};

TEST_F(TritonPlans, CompileEachConfigurationOfAKernelInAFileBeside) {
  write("bent_shared.py", kShared);
  write("Bent.py", kPass);
  const auto loaded = pass::load_pass(scratch_.path / "Bent.py");
  ASSERT_TRUE(loaded) << to_string(loaded.error());
  EXPECT_TRUE(loaded->has_triton);
  const std::vector<pass::Pass> passes{*loaded};
  const Rewritten rewritten = planned(passes, ir::contiguous(ir::DType::Float16, {3, 512}));
  const auto built = build_kernels(rewritten, passes, options(), "sm_90");
  ASSERT_TRUE(built) << to_string(built.error());
  ASSERT_TRUE(built->has_choices());
  ASSERT_EQ(built->lists[0].launches.size(), 3u);
  const pass::Launch& second = built->lists[0].launches[1];
  EXPECT_THAT(second.grid, ElementsAre(6));
  EXPECT_EQ(second.block, 128);
  // None and the constants are part of the code; what is left stands in the order of the signature.
  const std::vector<std::string>& types = built->kernels[0][1].parameters;
  EXPECT_THAT(types, ElementsAre("*fp16", "*fp16", "i32", "fp32"));
  ASSERT_GE(second.args.size(), types.size());
  EXPECT_EQ(second.args[2], pass::LaunchArg(int64_t{1536}));
  EXPECT_EQ(second.args[3], pass::LaunchArg(0.5));

  const BuiltLists kept = keep_fastest(*built, {{3.0, 1.0, 2.0}});
  EXPECT_FALSE(kept.has_choices());
  EXPECT_EQ(kept.ways[0], (std::vector<BuiltLists::Way>{{0, 1}}));
  EXPECT_EQ(kept.lists[0].launches[0], second);
  EXPECT_EQ(kept.kernels[0][0].object, built->kernels[0][1].object);
}

TEST_F(TritonPlans, LeaveOutConfigurationsThatDoNotCompile) {
  std::string text = kShared;
  text.replace(text.find("tl.store"), 8, "tl.static_assert(BLOCK != 128)\n    tl.store");
  write("bent_shared.py", text);
  write("Bent.py", kPass);
  const std::vector<pass::Pass> passes{pass::load_pass(scratch_.path / "Bent.py").value()};
  const Rewritten rewritten = planned(passes, ir::contiguous(ir::DType::Float32, {64}));
  const auto built = build_kernels(rewritten, passes, options(), "sm_90");
  ASSERT_TRUE(built) << to_string(built.error());
  EXPECT_EQ(built->ways[0], (std::vector<BuiltLists::Way>{{0, 1}, {0, 2}}));
}

TEST_F(TritonPlans, NameThePlaceOfWhatTritonRefuses) {
  std::string text = kShared;
  text.replace(text.find("tl.store"), 8, "tl.no_such(x)\n    tl.store");
  write("bent_shared.py", text);
  write("Bent.py", kPass);
  const std::vector<pass::Pass> passes{pass::load_pass(scratch_.path / "Bent.py").value()};
  const auto built =
      build_kernels(planned(passes, ir::contiguous(ir::DType::Float32, {64})), passes, options(), "sm_90");
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().kind, Error::Kind::BadPass);
  ASSERT_TRUE(built.error().at);
  EXPECT_EQ(built.error().at->file, (scratch_.path / "bent_shared.py").string());
  EXPECT_EQ(built.error().at->line, 22u);
  EXPECT_THAT(built.error().message, HasSubstr("no_such"));
}

TEST_F(TritonPlans, NeedAGpu) {
  write("bent_shared.py", kShared);
  write("Bent.py", kPass);
  const std::vector<pass::Pass> passes{pass::load_pass(scratch_.path / "Bent.py").value()};
  const auto built = build_kernels(planned(passes, ir::contiguous(ir::DType::Float32, {64})), passes, options());
  ASSERT_FALSE(built);
  EXPECT_EQ(built.error().message, "pass 'Bent' has no CPU kernel: 'bent_kernel' is a kernel of Triton");
  EXPECT_EQ(built.error().hint, "its @triton.jit kernels need a GPU");
}

}  // namespace
}  // namespace passnet::run
