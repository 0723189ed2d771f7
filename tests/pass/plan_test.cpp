#include "pass/plan/plan.h"

#include <gmock/gmock.h>

#include <limits>

#include "plan_support.h"

namespace passnet::pass {
namespace {

using test::error_text;
using test::expect_list;
using test::plan_text;
using test::run_plan;
using test::tensor;
using testing::ElementsAre;

constexpr char kAddRelu[] = R"(import torch
import triton

BLOCK = 4 * 256

def replacement_args(x, y):
    return (x, y)

def add_relu(x, y):
    n = x.numel()
    if not x.is_contiguous() or x.shape != y.shape:
        return NotImplemented
    out = torch.empty_like(x)
    add_relu_kernel[(triton.cdiv(n, BLOCK),), 256](x, y, out, n, T=x.dtype, BLOCK=BLOCK, num_warps=4)
    return out

def replacement_func():
    return add_relu
)";

TEST(Plan, BecomesALaunchList) {
  auto evaluated = run_plan(kAddRelu, {tensor({4, 1000}), tensor({4, 1000})});
  const LaunchList list = expect_list(evaluated);
  EXPECT_EQ(list.pass, "P");
  ASSERT_EQ(list.buffers.size(), 3u);
  EXPECT_EQ(list.buffers[0], (Buffer{0, tensor({4, 1000}), std::nullopt}));
  EXPECT_EQ(list.buffers[1].input, 1);
  EXPECT_EQ(list.buffers[2], (Buffer{-1, tensor({4, 1000}), std::nullopt}));
  ASSERT_EQ(list.launches.size(), 1u);
  const Launch& launch = list.launches[0];
  EXPECT_EQ(launch.kernel, "add_relu_kernel");
  EXPECT_THAT(launch.grid, ElementsAre(4));
  EXPECT_EQ(launch.block, 256);
  EXPECT_THAT(launch.constants,
              ElementsAre(NamedConstant{"T", ir::DType::Float32}, NamedConstant{"BLOCK", int64_t{1024}}));
  ASSERT_EQ(launch.args.size(), 4u);
  EXPECT_EQ(launch.args[2], LaunchArg(View{2, 0, tensor({4, 1000})}));
  EXPECT_EQ(launch.args[3], LaunchArg(int64_t{4000}));
  EXPECT_EQ(launch.at, (SourceLoc{"P.py", 14, 5}));
  EXPECT_THAT(list.outputs, ElementsAre(View{2, 0, tensor({4, 1000})}));
}

TEST(Plan, DeclinesAtTheReturnThatSaysSo) {
  auto evaluated = run_plan(kAddRelu, {tensor({4, 1000}), tensor({1000})});
  ASSERT_TRUE(evaluated) << to_string(evaluated.error());
  ASSERT_TRUE(std::holds_alternative<Declined>(*evaluated));
  EXPECT_EQ(std::get<Declined>(*evaluated).at, (SourceLoc{"P.py", 12, 9}));
}

TEST(Plan, TellsWhichSiteInputsAreBuffers) {
  const std::string text =
      plan_text("a, x, b, y, c", "    assert a is None and b == 2 and c == (1, 2)\n    return x, y\n");
  auto evaluated =
      run_plan(text, {std::monostate{}, tensor({2}), int64_t{2}, tensor({3}), std::vector<int64_t>{1, 2}}, 2);
  const LaunchList list = expect_list(evaluated);
  EXPECT_THAT(std::get<PlanResult>(*evaluated).tensor_inputs, ElementsAre(1u, 3u));
  EXPECT_THAT(list.outputs, ElementsAre(View{0, 0, tensor({2})}, View{1, 0, tensor({3})}));
}

TEST(Plan, AllocatesWithFillsDtypesAndLayouts) {
  const std::string text = plan_text("x", R"(
    a = torch.zeros(2, 3)
    b = torch.full((4,), -1.5, dtype=torch.float16, device=x.device)
    c = torch.ones_like(x.t(), dtype=torch.int32)
    d = x.new_empty((0, 5))
    e = torch.empty_strided((2, 2), (1, 2), dtype=torch.bfloat16)
    f = torch.full([1], True)
    g = torch.empty_like(x.t(), memory_format=torch.contiguous_format)
    return a, b, c, d, e, f, g
)");
  const LaunchList list = expect_list(run_plan(text, {tensor({2, 3})}, 7));
  ASSERT_EQ(list.buffers.size(), 8u);
  EXPECT_EQ(list.buffers[1], (Buffer{-1, tensor({2, 3}), 0.0}));
  EXPECT_EQ(list.buffers[2], (Buffer{-1, tensor({4}, ir::DType::Float16), -1.5}));
  EXPECT_EQ(list.buffers[3], (Buffer{-1, {ir::DType::Int32, {3, 2}, {1, 3}}, 1.0}));
  EXPECT_EQ(list.buffers[4], (Buffer{-1, tensor({0, 5}), std::nullopt}));
  EXPECT_EQ(list.buffers[5], (Buffer{-1, {ir::DType::BFloat16, {2, 2}, {1, 2}}, std::nullopt}));
  EXPECT_EQ(list.buffers[6], (Buffer{-1, tensor({1}, ir::DType::Bool), 1.0}));
  EXPECT_EQ(list.buffers[7], (Buffer{-1, tensor({3, 2}), std::nullopt}));
}

TEST(Plan, GridsAreIntegersTuplesOrLambdasOfTheConstants) {
  const std::string text = plan_text("x", R"(
    n = x.numel()
    k[n](x)
    k[n, 2](x)
    k[(n, 2, 3), 64](x)
    grid = lambda meta: (triton.cdiv(n, meta['BLOCK']),)
    k[grid](x, BLOCK=32)
    k[lambda meta: (meta["BLOCK"], 5), 128](x, BLOCK=16, F=1.5, B=True)
    return x
)");
  const LaunchList list = expect_list(run_plan(text, {tensor({100})}));
  ASSERT_EQ(list.launches.size(), 5u);
  EXPECT_THAT(list.launches[0].grid, ElementsAre(100));
  EXPECT_THAT(list.launches[1].grid, ElementsAre(100, 2));
  EXPECT_EQ(list.launches[1].block, 1);
  EXPECT_THAT(list.launches[2].grid, ElementsAre(100, 2, 3));
  EXPECT_EQ(list.launches[2].block, 64);
  EXPECT_THAT(list.launches[3].grid, ElementsAre(4));
  EXPECT_THAT(list.launches[4].grid, ElementsAre(16, 5));
  EXPECT_EQ(list.launches[4].block, 128);
  EXPECT_THAT(list.launches[4].constants,
              ElementsAre(NamedConstant{"BLOCK", int64_t{16}}, NamedConstant{"F", 1.5}, NamedConstant{"B", true}));
}

TEST(Plan, KnowsWhetherTensorsAreOnAGpu) {
  const std::string text = plan_text("x", R"(
    if x.is_cuda:
        k[(x.numel(),), 128](x)
    else:
        k[1](x)
    return x
)");
  EXPECT_EQ(expect_list(run_plan(text, {tensor({100})})).launches[0].block, 1);
  EXPECT_EQ(expect_list(run_plan(text, {tensor({100})}, 1, true)).launches[0].block, 128);
}

TEST(Plan, MakesClustersOfBlocksOnAGpu) {
  const auto plan = [](const std::string& launch) { return plan_text("x", "    " + launch + "\n    return x\n"); };
  const std::string four = plan("k[(12,), 128](x, CLUSTER=4)"), odd = plan("k[(10, 4), 128](x, CLUSTER=4)");
  EXPECT_EQ(expect_list(run_plan(four, {tensor({100})}, 1, true)).launches[0].grid, std::vector<int64_t>{12});
  EXPECT_EQ(expect_list(run_plan(odd, {tensor({100})})).launches[0].grid, (std::vector<int64_t>{10, 4}));
  const auto message = [](const std::string& text) {
    const auto made = run_plan(text, {tensor({100})}, 1, true);
    return made ? "no error" : made.error().message;
  };
  EXPECT_EQ(message(odd), "grid (10, 4) with CLUSTER=4: the first size must be a multiple of it");
  EXPECT_EQ(message(plan("k[(12,), 128](x, CLUSTER=3)")),
            "constant CLUSTER, the blocks of a cluster on a GPU: found 3, expected 1, 2, 4 or 8");
  EXPECT_EQ(message(plan("k[(12,), 128](x, CLUSTER=2.0)")),
            "constant CLUSTER, the blocks of a cluster on a GPU: found no int, expected 1, 2, 4 or 8");
}

TEST(Plan, KeepsWarpsAndStagesForTritonKernelsOnly) {
  const std::string text = plan_text("x", "    k[1](x, num_warps=8)\n    j[1](x, num_warps=8)\n    return x\n", R"(
@triton.autotune(configs=[
    triton.Config({'B': 1})], key=["n"])
@triton.jit
def j(x, B: tl.constexpr):
    """while class eval ("""
    y = f"{x}" if x & 1 else ~x
# a comment at the margin
    while True:
        pass
)");
  const LaunchList list = expect_list(run_plan(text, {tensor({1})}));
  ASSERT_EQ(list.launches.size(), 2u);
  EXPECT_TRUE(list.launches[0].constants.empty());
  EXPECT_THAT(list.launches[1].constants,
              ElementsAre(NamedConstant{"B", int64_t{1}}, NamedConstant{"num_warps", int64_t{8}}));
}

constexpr const char* kJitKernels = R"(
import triton.language as tl
EPS = 1e-5
@triton.jit
def norm(x_ptr, out_ptr, n: tl.int32, eps=EPS, BLOCK: tl.constexpr = 128, FLAG: "tl.constexpr" = False):
    pass
@triton.autotune(configs=[triton.Config({'BLOCK': 64})], key=['n'])
@triton.jit
def tuned(x_ptr, n, BLOCK: tl.constexpr, T: triton.language.constexpr):
    pass
)";

TEST(Plan, BindsLaunchesToTheSignatureOfATritonKernel) {
  const std::string text = plan_text("x", R"(
    out = torch.empty_like(x)
    norm[1](x, out, 6)
    norm[lambda meta: (meta["n"] // meta["BLOCK"], meta["num_warps"])](x, n=6, out_ptr=out, BLOCK=2, num_warps=4)
    norm[1](x, out, 6, 0.5, 2, True, num_stages=3)
    norm[1](FLAG=True, n=6, x_ptr=x, eps=1, out_ptr=out)
    tuned[1](x, 6, T=x.dtype)
    return out
)",
                                     kJitKernels);
  const LaunchList list = expect_list(run_plan(text, {tensor({2, 3})}));
  ASSERT_EQ(list.launches.size(), 5u);
  const auto number = [](int64_t value) { return Constant(value); };
  for (size_t i = 0; i < 4; ++i) {
    ASSERT_EQ(list.launches[i].args.size(), 4u) << i;
    EXPECT_EQ(std::get<View>(list.launches[i].args[0]).buffer, 0u) << i;
    EXPECT_EQ(std::get<View>(list.launches[i].args[1]).buffer, 1u) << i;
    EXPECT_EQ(list.launches[i].args[2], LaunchArg(int64_t{6})) << i;
  }
  EXPECT_EQ(list.launches[0].args[3], LaunchArg(1e-5));
  EXPECT_EQ(list.launches[2].args[3], LaunchArg(0.5));
  EXPECT_EQ(list.launches[3].args[3], LaunchArg(int64_t{1}));
  EXPECT_THAT(list.launches[0].constants,
              ElementsAre(NamedConstant{"BLOCK", number(128)}, NamedConstant{"FLAG", false}));
  EXPECT_THAT(list.launches[1].constants, ElementsAre(NamedConstant{"BLOCK", number(2)}, NamedConstant{"FLAG", false},
                                                      NamedConstant{"num_warps", number(4)}));
  EXPECT_THAT(list.launches[1].grid, ElementsAre(3, 4));
  EXPECT_THAT(list.launches[2].constants, ElementsAre(NamedConstant{"BLOCK", number(2)}, NamedConstant{"FLAG", true},
                                                      NamedConstant{"num_stages", number(3)}));
  EXPECT_THAT(list.launches[4].constants,
              ElementsAre(NamedConstant{"BLOCK", number(64)}, NamedConstant{"T", ir::DType::Float32}));
  EXPECT_EQ(list.launches[4].origin, KernelOrigin::Triton);
  EXPECT_EQ(list.launches[4].file, "P");
  EXPECT_THAT(list.launches[4].parameters, ElementsAre("x_ptr", "n"));
}

TEST(Plan, TriesEachConfigurationOfATunedKernelWithItsOwnGrid) {
  const std::string text = plan_text("x", R"(
    k[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, x.numel())
    return x
)",
                                     R"(
def configs():
    return [triton.Config({'BLOCK': b}, num_warps=w) for b, w in ((64, 2), (128, 4), (256, 8))]
@triton.autotune(configs=configs(), key=['n'])
@triton.heuristics({'EVEN': lambda args: args['n'] % args['BLOCK'] == 0})
@triton.jit
def k(x_ptr, n, BLOCK: tl.constexpr, EVEN: tl.constexpr):
    pass
)");
  const LaunchList list = expect_list(run_plan(text, {tensor({128})}));
  ASSERT_EQ(list.launches.size(), 1u);
  const Launch& launch = list.launches[0];
  ASSERT_EQ(launch.choices.size(), 3u);
  EXPECT_EQ(launch.choices[0].constants, launch.constants);
  EXPECT_EQ(launch.choices[0].grid, launch.grid);
  EXPECT_THAT(launch.choices[0].grid, ElementsAre(2));
  EXPECT_THAT(launch.choices[2].grid, ElementsAre(1));
  EXPECT_THAT(launch.choices[1].constants,
              ElementsAre(NamedConstant{"BLOCK", int64_t{128}}, NamedConstant{"EVEN", true},
                          NamedConstant{"num_warps", int64_t{4}}));
  EXPECT_THAT(launch.choices[2].constants,
              ElementsAre(NamedConstant{"BLOCK", int64_t{256}}, NamedConstant{"EVEN", false},
                          NamedConstant{"num_warps", int64_t{8}}));
  const auto back = launch_list_from_json(to_json(list));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, list);
}

TEST(Plan, RefusesLaunchesThatDoNotFitTheSignatureOfATritonKernel) {
  const std::pair<const char*, const char*> cases[] = {
      {"norm[1](x, x)", "kernel 'norm' lacks its argument 'n'"},
      {"norm[1](x, x, 1, 2, 3, True, 4)", "kernel 'norm' takes at most 6 arguments, found 7"},
      {"norm[1](x, x, 1, n=1)", "kernel 'norm' got its parameter 'n' twice"},
      {"norm[1](x, x, 1, BLOCK_SIZE=1)", "kernel 'norm' has no parameter 'BLOCK_SIZE'"},
      {"norm[1](x, x, x.dtype)",
       "argument of kernel 'norm': found dtype torch.float32, expected a tensor, int, float or bool"},
      {"norm[1](x, x, 1, BLOCK=x)",
       "constant 'BLOCK': found tensor float32[2, 3], expected an int, float, bool, dtype, string or None"},
      {"norm[1](x, x, 1, num_warps='4')", "option 'num_warps': found string '4', expected an int"},
      {"tuned[lambda meta: (meta['B'],)](x, 1, T=x.dtype)", "the dict has no key string 'B'"},
      {"tuned[1](x, 1, 32, T=x.dtype)", "the launch gives 'BLOCK', which @triton.autotune chooses"},
      {"tuned[1, 32](x, 1, T=x.dtype, num_warps=3.0)", "option 'num_warps': found float 3, expected an int"},
      {"tuned[1](x)", "kernel 'tuned' lacks its argument 'n'"},
  };
  for (const auto& [line, message] : cases) {
    const auto result =
        run_plan(plan_text("x", fmt::format("    {}\n    return x\n", line), kJitKernels), {tensor({2, 3})});
    ASSERT_FALSE(result) << line;
    EXPECT_EQ(result.error().message, message) << line;
    ASSERT_TRUE(result.error().at) << line;
  }
}

// Each line holds, as it does in Python.
TEST(Plan, ReadsTheSyntaxOfWrappersAsPythonDoes) {
  const char* const lines[] = {
      "1 << 10 == 1024 and 1000 >> 3 == 125 and -7 >> 1 == -4",
      "6 & 3 == 2 or 6 & 3 == 3",
      "(6 & 3, 6 | 3, 6 ^ 3, ~6) == (2, 7, 5, -7)",
      "((True & False) is False) and ((True | False) is True) and ((True ^ True) is False)",
      "1 + 1 << 2 == 8 and 1 | 2 ^ 3 & 4 == 3",
      "f'' == '' and f'a{1 + 1}b' == 'a2b' and f'{{{3}}}' == '{3}' and f'{x.dtype}' == 'torch.float32'",
      "f'{(1, 2.0)} {[None, True]} {(\"a\",)}' == \"(1, 2.0) [None, True] ('a',)\"",
      "'a' f'{1}' '{b}' == 'a1{b}' and f'\\n' == '\\n'",
      "str(1e-05) + str(2.0) + str(1e16) + str(0.1) == '1e-052.01e+160.1'",
      "'conv_3_bias'.split('_') == ['conv', '3', 'bias'] and ' a  b '.split() == ['a', 'b']",
      "'a,b,c'.split(',', 1) == ['a', 'b,c'] and ','.split(',') == ['', ''] and ''.split() == [] and ''.split(',') == "
      "['']",
      "'route_b4'.startswith('route') and 'x.y'.endswith(('.z', '.y')) and not 'ab'.startswith('b')",
      "' ab '.strip() == 'ab' and 'xxaxx'.strip('x') == 'a' and 'Ab'.lower() + 'Ab'.upper() == 'abAB'",
      "'a-b-c'.replace('-', '+') == 'a+b+c' and '-'.join(['a', 'b']) == 'a-b' and '12'.isdigit()",
      "{'a': 1, 'b': 2}['b'] == 2 and {1: 'x', 1: 'y'}[True] == 'y' and {}.get(3) is None and len({1: 2}) == 1",
      "{torch.float32: 4, torch.float16: 2}[x.dtype] == 4 and {(1, 2): 3}.get((1, 2), 0) == 3",
      "'a' in {'a': 1} and 'b' not in {'a': 1} and {'a': 1}.keys() == ['a'] and {'a': 1}.items() == [('a', 1)]",
      "{torch.float32: tl.float32}[x.dtype] is torch.float32 and triton.language.int1 is torch.bool",
      "(*x.shape, 1) == (2, 3, 1) and [0, *x.shape, *()] == [0, 2, 3] and max(*x.shape) == 3",
  };
  for (const char* line : lines) {
    const std::string text = plan_text("x", fmt::format("    assert {}\n    return x\n", line));
    EXPECT_EQ(error_text(run_plan(text, {tensor({2, 3})})), "no error") << line;
  }
}

TEST(Plan, RunsTheStatementsOfWrappersAsPythonDoes) {
  const std::string text = plan_text("x", R"(
    import math
    from torch import nn
    block: int = 1
    width: float
    while block < x.numel():
        block <<= 1
        if block == 1024:
            break
    else_block = block
    turns = 0
    while True:
        turns += 1
        if turns < 3:
            continue
        break
    def grid(meta):
        """One task for each block."""
        return (triton.cdiv(x.numel(), meta["BLOCK"]),)
    k[grid](x, BLOCK=block)
    assert (block, turns) == (8, 3) and total(1, 2, 3) == 6 and total() == 0 and total(*x.shape, by=2) == 10
    return dispatch(x, 'keep')
)",
                                     R"(
def total(*numbers, by=1):
    return sum(numbers) * by
def dispatch(*args):
    route = args[-1]
    if route == 'keep':
        return args[0]
    raise ValueError(f'no route {route}')
)");
  const LaunchList list = expect_list(run_plan(text, {tensor({2, 3})}));
  ASSERT_EQ(list.launches.size(), 1u);
  EXPECT_THAT(list.launches[0].grid, ElementsAre(1));
}

constexpr char kJitKernel[] = "import torch, triton, sys\n@triton.jit\ndef k(x, o, n, B: tl.constexpr):\n    pass\n";

TEST(Plan, LaunchersAreValues) {
  const auto launches = [](const std::string& top, const std::string& body) {
    const std::string text =
        plan_text("x", "    o = torch.empty_like(x)\n    n = x.numel()\n" + body + "    return o\n", kJitKernel + top);
    return expect_list(run_plan(text, {tensor({8})})).launches;
  };
  for (const auto& [top, body] : std::vector<std::pair<std::string, std::string>>{
           {"l = k[(8,)]\n", "    l(x, o, n, 128)\n"},
           {"", "    l = k[n]\n    l(x, o, n, B=128)\n"},
           {"", "    l = k[lambda m: (m['n'],)]\n    l(x, o, n, 128)\n"},
           {"ls = {'a': k[(8,)]}\n", "    ls['a'](x, o, n, 128)\n"},
           {"def go(l, *a, **b):\n    l(*a, **b)\n", "    go(k[(n,)], x, o, n, B=128)\n"},
           {"def make(n):\n    return k[(n,)]\n", "    make(n)(x, o, n, 128)\n"},
           {"import functools\n", "    functools.partial(k[(n,)], x, o)(n, B=128)\n"},
           {"from functools import partial\n", "    l = partial(partial(k[(n,)], B=1), x, o, n, B=64)\n    l(B=128)\n"},
           {"", "    k.run(x, o, n, grid=(n,), warmup=False, B=128)\n"}}) {
    const auto found = launches(top, body);
    ASSERT_EQ(found.size(), 1u) << top << body;
    EXPECT_EQ(found[0].kernel, "k");
    EXPECT_EQ(found[0].grid, std::vector<int64_t>{8}) << top << body;
    ASSERT_EQ(found[0].constants.size(), 1u) << top << body;
    EXPECT_EQ(found[0].constants[0].name, "B");
  }
  // A launcher keeps its grid, and holds no other one.
  EXPECT_EQ(launches("", "    g = [n]\n    l = k[g]\n    g[0] = 3\n    l(x, o, n, 128)\n")[0].grid,
            std::vector<int64_t>{8});
  EXPECT_EQ(error_text(run_plan(plan_text("x", "    l = k[(1,)]\n    l = k[(l,)]\n    return x\n", kJitKernel),
                                {tensor({8})})),
            "P.py:9:9: error: size of a grid axis: found launcher, expected an int >= 0");
}

TEST(Plan, BranchesMayHoldWhatIsNoPlanWhereNoneComesToThem) {
  const std::string kernel = "    o = torch.empty_like(x)\n    k[(1,)](x, o, x.numel(), B=128)\n    return o\n";
  for (const std::string& body : std::vector<std::string>{
           "    if x.dim() == 2:\n        return torch.relu(x)\n" + kernel,
           "    if x.dim() != 2:\n        o = torch.empty_like(x)\n        k[(1,)](x, o, 8, B=1)\n        return o\n   "
           " return "
           "torch.relu(x)\n",
           "    try:\n        n = x.numel()\n    except Exception:\n        return x.item()\n" + kernel,
           "    y = torch.relu(x) if x.dim() == 2 else x\n" + kernel, "    x.dim() == 2 and torch.relu(x)\n" + kernel,
           "    while x.dim() == 2:\n        x = x.relu_()\n" + kernel,
           "    if x.dim() == 2:\n        return slow(x)\n" + kernel,
           "    if x.dim() == 2:\n        return nothing(missing)\n" + kernel}) {
    const std::string text =
        plan_text("x", body, std::string(kJitKernel) + "def slow(x):\n    return torch.softmax(x, -1)\n");
    EXPECT_EQ(expect_list(run_plan(text, {tensor({8})})).launches.size(), 1u) << body;
  }
  // An evaluation that reaches the call ends with the usual error.
  const std::string reached = plan_text("x", "    if x.dim() == 1:\n        return torch.relu(x)\n    return x\n");
  const Evaluated evaluated = run_plan(reached, {tensor({8})});
  EXPECT_THAT(error_text(evaluated),
              testing::StartsWith("P.py:5:22: error: outside the plan language: found 'torch.relu()'"));
  EXPECT_EQ(evaluated.error().failure, "library-call");
  EXPECT_EQ(
      error_text(run_plan(plan_text("x", "    if x.dim() == 1:\n        return lengt\n    return x\n", "length = 3\n"),
                          {tensor({8})})),
      "P.py:6:16: error: name 'lengt' is not defined\nhint: did you mean 'length'?");
  // What each evaluation comes to is refused when the pass is read.
  EXPECT_THAT(error_text(run_plan(plan_text("x", "    y = slow(x)\n    return y\n",
                                            "import torch\ndef slow(x):\n    return torch.relu(x)\n"),
                                  {})),
              testing::StartsWith("P.py:3:18: error: outside the plan language: found 'torch.relu()'"));
}

TEST(Plan, FilesSayWhatTheyComeTo) {
  const std::string top = std::string(kJitKernel) +
                          "import os\ntry:\n    here = __file__\nexcept NameError:\n    here = os.getcwd()\n"
                          "if False:\n    torch.compile(k)\n_e = torch.empty_like\n_r = torch.relu\n";
  EXPECT_EQ(expect_list(run_plan(plan_text("x", "    o = _e(x)\n    return o\n", top), {tensor({8})})).buffers.size(),
            2u);
  EXPECT_THAT(error_text(run_plan(plan_text("x", "    return x\n", "import os\nhere = os.getcwd()\n"), {tensor({8})})),
              testing::StartsWith("P.py:2:11: error: outside the plan language: found 'os.getcwd()'"));
  // A file finds itself and its modules in sys.modules.
  EXPECT_EQ(expect_list(run_plan(plan_text("x", "    return sys.modules[__name__].make(x)\n",
                                           "import sys, torch\ndef make(x):\n    return torch.empty_like(x)\n"),
                                 {tensor({8})}))
                .buffers.size(),
            2u);
}

TEST(Plan, ArithmeticWithTensorsIsFoundWithoutASite) {
  const auto problem = [](const std::string& body, const std::string& top = "") {
    const std::string text = plan_text("x, y", body, "import torch\n" + top);
    auto file = parse_pass_file("P.py", std::make_shared<const std::string>(text));
    Budget steps(kLoading);
    const auto plan = make_plan({*file}, {.find_arithmetic = true}, steps);
    return plan ? "none" : to_string(plan.error()).substr(0, to_string(plan.error()).find('\n'));
  };
  EXPECT_EQ(problem("    return x + y\n"), "P.py:5:14: error: operator '+' does not take a tensor");
  EXPECT_EQ(problem("    out = x * 2.0\n    return out\n"), "P.py:5:13: error: operator '*' does not take a tensor");
  EXPECT_EQ(problem("    return (x @ y, y)\n"), "P.py:5:15: error: operator '@' does not take a tensor");
  EXPECT_EQ(problem("    n = x.numel()\n    z = x - n\n    return z, n\n"),
            "P.py:6:11: error: operator '-' does not take a tensor");
  EXPECT_EQ(
      problem("    z = torch.empty_like(x)\n    if y is None:\n        y = 3\n    w = z.view(-1) / y\n    return w\n"),
      "P.py:8:20: error: operator '/' does not take a tensor");
  EXPECT_EQ(problem("    return half(x)\n", "def half(t):\n    n = t.numel()\n    return -t\n"),
            "P.py:4:12: error: operator '-' does not take a tensor");
  for (const char* body :
       {"    n = x.numel() * 2 + y\n    return x\n", "    if y == 3:\n        return x + y\n    return x\n",
        "    outs = (x,)\n    return outs + (y,)\n", "    x = x.shape[0]\n    z = x * 2\n    return y\n",
        "    z = x + 1 if y is None else x\n    return z\n", "    return (x,) * 2\n",
        "    z = x.shape + y.shape\n    return x\n"})
    EXPECT_EQ(problem(body), "none") << body;
}

TEST(Plan, HelpersHaveDefaultsAndKeywords) {
  const std::string text =
      plan_text("x", "    assert area(2) == 20 and area(2, by=3) == 6 and area(by=1, size=4) == 4\n    return x\n",
                "WIDTH = 10\ndef area(size: int, by: int = WIDTH) -> int:\n    return size * by\n");
  expect_list(run_plan(text, {tensor({1})}));
}

TEST(Plan, RunsForLoopsWithBreakAndContinue) {
  const std::string text = plan_text("x", R"(
    total = 0
    for i, size in enumerate(x.shape, 1):
        if size == 1: continue
        elif i > 3:
            break
        else:
            total += i * size
    for (a, b) in zip((1, 2), [10, 20]): total += a * b
    assert total == 2 + 3 * 4 + 50, "total"
    assert [i * j for i, j in zip(range(3), range(3)) if i != 1] == [0, 4]
    assert sum(d for d in x.shape) == 12
    return x
)");
  expect_list(run_plan(text, {tensor({2, 1, 4, 5})}));
}

TEST(Plan, ComprehensionVariablesDoNotLeakOut) {
  const std::string text =
      plan_text("x", "    i = 7\n    a = [i for i in range(3)]\n    assert i == 7 and a[-1] == 2\n    return x\n");
  expect_list(run_plan(text, {tensor({1})}));
}

struct ErrorCase {
  std::string body;
  std::string expected;
};
void PrintTo(const ErrorCase& error, std::ostream* out) { *out << error.body; }

class PlanErrors : public testing::TestWithParam<ErrorCase> {};

TEST_P(PlanErrors, NameThePlaceAndWhatWasFound) {
  const std::string text = plan_text("x", "    " + GetParam().body + "\n    return x\n");
  EXPECT_EQ(error_text(run_plan(text, {tensor({2, 3})})), GetParam().expected);
}

const ErrorCase kErrors[] = {
    {"a = 9223372036854775807 + 1",
     "P.py:4:29: error: integer overflow: 9223372036854775807 + 1 does not fit into 64 bits"},
    {"a = 2 ** 64", "P.py:4:11: error: integer overflow: 2 ** 64 does not fit into 64 bits"},
    {"a = x.shape[2]", "P.py:4:11: error: index out of range: found 2, the tuple has 2 items"},
    {"a = 1 // 0", "P.py:4:11: error: division by zero: 1 // 0"},
    {"a = x + 1",
     "P.py:4:11: error: operator '+' does not take tensor float32[2, 3] and int 1\n"
     "hint: compute it in a kernel, or give '--allow-library', which lets PyTorch compute it and says so in the "
     "record"},
    {"if x: pass",
     "P.py:4:5: error: tensor float32[2, 3] has no truth value here\n"
     "hint: a plan knows sizes, not data; write 'x is not None' to test for presence"},
    {"assert x.shape[0] == 3, 'wants 3 rows'",
     "P.py:4:5: error: an assertion of the plan does not hold: wants 3 rows\n"
     "hint: to leave a site as it is, 'return NotImplemented'"},
    {"raise ValueError('no')",
     "P.py:4:5: error: the plan raises ValueError: no\nhint: to leave a site as it is, 'return "
     "NotImplemented'"},
    {"k[1](x, 'gelu')",
     "P.py:4:13: error: argument of kernel 'k': found string 'gelu', expected a tensor, int, float or bool\n"
     "hint: choose between kernels or constants in the plan with 'if route == …'"},
    {"k[1](x, x.dtype)",
     "P.py:4:15: error: argument of kernel 'k': found dtype torch.float32, expected a tensor, int, float or "
     "bool\n"
     "hint: pass a dtype as a keyword, as in T=x.dtype; it names a type in the kernel"},
    {"k[1](X=x)",
     "P.py:4:12: error: constant 'X': found tensor float32[2, 3], expected an int, float, bool, dtype, string or None\n"
     "hint: keywords are compile-time constants; pass tensors by position"},
    {"raise ValueError(f'no {x.shape}')",
     "P.py:4:5: error: the plan raises ValueError: no (2, 3)\nhint: to leave a site as it is, 'return "
     "NotImplemented'"},
    {"while True: a = 1",
     "P.py:4:5: error: the plan takes more than 1000000 steps\n"
     "hint: a plan chooses sizes and launches kernels; loops over elements belong in a kernel"},
    {"a = 1 << 63", "P.py:4:11: error: integer overflow: 1 << 63 does not fit into 64 bits"},
    {"a = 1 >> -1", "P.py:4:11: error: negative shift: 1 >> -1"},
    {"a = 1.5 & 1", "P.py:4:13: error: operator '&' does not take float 1.5 and int 1"},
    {"a = ~1.5", "P.py:4:9: error: operator '~' does not take float 1.5"},
    {"a = {1: 2}[2]", "P.py:4:9: error: the dict has no key int 2"},
    {"a = {[1]: 2}",
     "P.py:4:9: error: key of a dict: found list of 1 item, expected a number, string, dtype, None or tuple"},
    {"a = 'a'.append('b')", "P.py:4:13: error: string 'a' has no method 'append'"},
    {"a = 'a'.get('b')", "P.py:4:13: error: string 'a' has no method 'get'"},
    {"a = str(x)", "P.py:4:9: error: no text stands for tensor float32[2, 3]"},
    {"a = max(*x)", "P.py:4:13: error: '*' takes a tuple or a list, found tensor float32[2, 3]"},
    {"k[3 / 2](x)",
     "P.py:4:5: error: size of a grid axis: found float 1.5, expected an int >= 0\n"
     "hint: divide with '//' or triton.cdiv, '/' gives a float"},
    {"k[(1, 2, 3, 4)](x)", "P.py:4:5: error: grid of 4 axes, expected 1 to 3"},
    {"k[(1,), 2000](x)", "P.py:4:5: error: threads of a block: found int 2000, expected an int from 1 to 1024"},
    {"k[(2 ** 40, 2 ** 40)](x)", "P.py:4:5: error: grid (1099511627776, 1099511627776) has more than 2^63 tasks"},
    {"a = x.t().view(6)",
     "P.py:4:15: error: view to [6] needs a copy: the tensor is float32[3, 2] strides (1, 3)\n"
     "hint: copy in a kernel, or 'return NotImplemented' to decline the site"},
    {"a = x.contiguous(memory_format=torch.channels_last)",
     "P.py:4:11: error: argument 'memory_format': found string 'torch.channels_last', expected "
     "torch.contiguous_format\n"
     "hint: allocate with torch.empty_strided, and copy_ there"},
    {"x[0] = 1",
     "P.py:4:5: error: cannot assign to an item of tensor float32[2, 3]\n"
     "hint: a plan does not write tensors; launch a kernel that does"},
    {"a = x.view(4, -1)", "P.py:4:11: error: shape [4, -1] does not fit a tensor of 6 elements, [2, 3]"},
    {"a = x.view(-1, -1)",
     "P.py:4:11: error: invalid shape [-1, -1]: found size -1, expected sizes >= 0 and at most one -1"},
    {"a = x.size(2)",
     "P.py:4:11: error: dimension out of range: found 2, expected -2 to 1 for a tensor of 2 dimensions"},
    {"a = torch.empty(2 ** 41)",
     "P.py:4:15: error: allocation too large: float32[2199023255552] takes more than 2^40 bytes"},
    {"a = torch.empty(2 ** 31)",
     "P.py:4:15: error: float32[2147483648] brings what the plan allocates to 8589934592 bytes, expected at most "
     "4294968832 (2^32, and 64 times what its inputs have)"},
    {"for i in range(5000): a = torch.empty(1)",
     "P.py:4:37: error: a plan may allocate 4096 tensors, this is one more\n"
     "hint: allocate one before the loop, and use views of it"},
    {"for i in range(5000): k[1](x)", "P.py:4:27: error: a plan may launch 4096 kernels, this is one more"},
    {"a = torch.empty(-1)", "P.py:4:15: error: negative size -1 in shape [-1]"},
    {"a = torch.empty(2, dtyp=x.dtype)",
     "P.py:4:15: error: torch.empty has no parameter 'dtyp'\n"
     "hint: its parameters are (size*, dtype?, device?, layout?, requires_grad?)"},
    {"a = x.narrow(0, 1)", "P.py:4:11: error: narrow lacks its argument 'length'"},
    {"a, b, c = x.shape", "P.py:4:5: error: cannot unpack tuple of 2 items into 3 names"},
    {"a = 1 is 1",
     "P.py:4:11: error: operator 'is' compares with None, True, False or a dtype, found int 1 and int 1\n"
     "hint: compare values with '=='"},
    {"if False: y = 1\n    a = y", "P.py:5:9: error: variable 'y' is read before it is assigned"},
    {"for i in x: pass",
     "P.py:4:14: error: cannot loop over tensor float32[2, 3]\nhint: loop over range, zip, enumerate, a "
     "tuple, a list or a dict"},
    {"return 3", "P.py:4:5: error: the plan returns int 3, expected a tensor or a tuple of tensors"},
    {"return x, x", "P.py:4:5: error: the plan returns 2 tensors, the pattern returns 1"},
    {"return", "P.py:4:5: error: the plan returns None, expected a tensor or a tuple of tensors"},
    {"a = x[0, 0, 0]", "P.py:4:9: error: too many indices: found 3 for a tensor of 2 dimensions"},
    {"a = x[:, ::-1]", "P.py:4:9: error: slice step -1 of a tensor, expected a step > 0"},
    {"a = torch.full((1,), 2 ** 60)",
     "P.py:4:15: error: argument 'fill_value': 1152921504606846976 is not exact as a float, expected at most "
     "2^53"},
    {"a = math.sqrt(-1)", "P.py:4:14: error: argument 'value': -1 is outside the function's domain"},
    {"a = x.shape.append(1)", "P.py:4:17: error: a tuple has no method 'append'"},
    {"a = x.grad",
     "P.py:4:11: error: outside the plan language: found attribute 'grad'\n"
     "hint: tensors have .shape, .dtype, .device and .ndim"},
    {"a = torch.nn.functional.relu",
     "P.py:4:29: error: outside the plan language: found 'torch.nn.functional.relu'\n"
     "hint: compute it in a kernel, or give '--allow-library', which lets PyTorch compute it and says so in the "
     "record"},
    {"a = int('12a')", "P.py:4:9: error: int of '12a', expected a number"},
    {"a, *b = 1,\n    a, *b = ()", "P.py:5:5: error: cannot unpack tuple of 0 items into 2 names"},
    {"from shared import f",
     "P.py:4:24: error: no module 'shared'\n"
     "hint: a pass imports Triton, PyTorch, Python's own libraries, and files beside it, which lie in its directory"},
    {"a = torch.relu(x)",
     "P.py:4:15: error: outside the plan language: found 'torch.relu()'\nhint: compute it in a kernel, or give "
     "'--allow-library', which lets PyTorch compute it and says so in the record"},
    {"a = torch.emtpy(1)",
     "P.py:4:15: error: outside the plan language: found 'torch.emtpy()'\nhint: did you mean 'torch.empty'?"},
    {"a = lenn(x)", "P.py:4:9: error: unknown function 'lenn'\nhint: did you mean 'len'?"},
    {"a = y", "P.py:4:9: error: name 'y' is not defined\nhint: see docs/plan-language.md for what a plan may use"},
    {"break", "P.py:4:5: error: 'break' outside a loop"},
};
INSTANTIATE_TEST_SUITE_P(Table, PlanErrors, testing::ValuesIn(kErrors));

std::string repeated(size_t count, std::string_view text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text;
  return all;
}

// Hostile input ends soon, with an error, within the memory it may use.
const ErrorCase kHostile[] = {
    {"for i in range(65536):\n        for j in range(65536): pass", "the plan takes more than 1000000 steps"},
    {"a = [0] * 100000", "sequence too long: 1 items repeated 100000 times, expected at most 65536"},
    {"a = range(10 ** 9)", "range too long: more than 65536 items"},
    {"a = [0] * 60000\n    for i in range(1000): b = a + [i]", "the plan takes more than 1000000 steps"},
    {"a = 'x' * 3", "operator '*' does not take string 'x' and int 3"},
    {"a = 'x'\n    for i in range(20): a = a + a", "string too long: 2048 bytes, expected at most 1024"},
    {"a = [1]\n    for i in range(20): a = [a]", "sequences nested too deep: found 17 levels, expected at most 16"},
    {"a = [0]\n    for i in range(20): a = [a, a, a, a, a, a, a, a]",
     "sequence too long: more than 65536 items, nested ones included"},
    {"a = x.expand(2 ** 40, 2, 3).expand(2 ** 40, 2 ** 40, 2, 3)",
     "tensor too large: [1099511627776, 1099511627776, 2, 3] has more than 2^60 elements"},
    {"for i in range(80): x = x.unsqueeze(0)", "too many dimensions: expected at most 64"},
    {"a = x[0:2:2 ** 62]", "slice step 4611686018427387904 is too large"},
    {"a = torch.empty_strided((2, 2), (2 ** 61, 1))",
     "invalid stride 2305843009213693952 in [2305843009213693952, 1], expected 0 to 2^60"},
    {"a = " + std::string(300, '(') + "1" + std::string(300, ')'),
     "nested too deeply: more than 256 levels of brackets and operators"},
    {"a = " + std::string(300, '-') + "1", "nested too deeply: more than 256 levels of brackets and operators"},
    {"a = 1" + repeated(200, " + 1"), "expression nested too deeply: expected at most 100 levels"},
    {"a = " + repeated(80000, "[i for i in ") + "x",
     "nested too deeply: more than 256 levels of brackets and operators"},
    {"a = " + repeated(50000, "[i for i in x if ") + "x",
     "nested too deeply: more than 256 levels of brackets and operators"},
};

class PlanHostile : public testing::TestWithParam<ErrorCase> {};

TEST_P(PlanHostile, EndsWithAnError) {
  const std::string text = plan_text("x", "    " + GetParam().body + "\n    return x\n");
  auto evaluated = run_plan(text, {tensor({2, 3})});
  ASSERT_FALSE(evaluated);
  EXPECT_EQ(evaluated.error().message, GetParam().expected);
  EXPECT_EQ(evaluated.error().kind, Error::Kind::BadPass);
  EXPECT_TRUE(evaluated.error().at);
}
INSTANTIATE_TEST_SUITE_P(Table, PlanHostile, testing::ValuesIn(kHostile));

TEST(Plan, RecursionEnds) {
  const std::string text = plan_text("x", "    f(1)\n    return x\n", "def f(n):\n    return f(n + 1)\n");
  EXPECT_EQ(error_text(run_plan(text, {tensor({1})})),
            "P.py:2:12: error: more than 64 calls inside each other\nhint: plans need no recursion");
}

TEST(Plan, FunctionsSeeWhereTheyWereMadeAndOutliveIt) {
  const std::string text = plan_text("x", R"(
    k[grid_of(x, 3)](x, counter()(), counter()())
    return x
)",
                                     R"(
def grid_of(x, n):
    def grid(meta):
        return (x.numel() * n,)
    return grid
def counter():
    seen = []
    def next_one():
        seen.append(len(seen))
        return len(seen)
    next_one()
    return next_one
)");
  const LaunchList list = expect_list(run_plan(text, {tensor({2})}));
  ASSERT_EQ(list.launches.size(), 1u);
  EXPECT_THAT(list.launches[0].grid, ElementsAre(6));
  EXPECT_EQ(list.launches[0].args[1], LaunchArg(int64_t{2}));
  EXPECT_EQ(list.launches[0].args[2], LaunchArg(int64_t{2}));
}

TEST(Plan, StateOfAFileBeginsAnewWithEachEvaluation) {
  const std::string text = plan_text("x", R"(
    global CALLS
    CALLS += 1
    if x.data_ptr() in CACHE:
        return CACHE[x.data_ptr()]
    out = torch.empty_like(x)
    k[1](x, out, CALLS, plan.calls)
    CACHE[x.data_ptr()] = out
    return out
)",
                                     "CACHE = {}\nCALLS = 0\n") +
                           "plan.calls = 7\n";
  const auto plan = test::parse_plan(text);
  ASSERT_TRUE(plan) << to_string(plan.error());
  for (int call = 0; call < 2; ++call) {
    const LaunchList list = expect_list(evaluate_plan(*plan, "P", {tensor({2})}, 1, {}));
    ASSERT_EQ(list.launches.size(), 1u);
    EXPECT_EQ(list.launches[0].args[2], LaunchArg(int64_t{1}));
    EXPECT_EQ(list.launches[0].args[3], LaunchArg(int64_t{7}));
  }
}

TEST(Plan, HandlersTakeWhatPythonRaisesAndNothingElse) {
  const auto run = [](const std::string& body) {
    return run_plan(plan_text("x", body + "    return x\n"), {tensor({2})});
  };
  EXPECT_EQ(error_text(run(R"(
    try:
        raise ValueError(f"{x.ndim:02d} dims")
    except (KeyError, ValueError) as error:
        assert str(error) == "01 dims"
    try:
        {}["a"]
    except LookupError:
        done = True
    else:
        done = False
    finally:
        last = 1
    assert done and last == 1
)")),
            "no error");
  EXPECT_EQ(error_text(run(R"(
    try:
        raise ValueError("no")
    except KeyError:
        pass
)")),
            "P.py:6:9: error: the plan raises ValueError: no\nhint: to leave a site as it is, 'return NotImplemented'");
  EXPECT_EQ(error_text(run(R"(
    try:
        y = x + x
    except Exception:
        y = x
)")),
            "P.py:6:15: error: operator '+' does not take tensor float32[2] and tensor float32[2]\n"
            "hint: compute it in a kernel, or give '--allow-library', which lets PyTorch compute it and says so in the "
            "record");
}

TEST(Plan, ListsAndDictsChangeInPlaceButNeverHoldThemselves) {
  const auto run = [](const std::string& body) {
    return run_plan(plan_text("x", body + "    return x\n"), {tensor({2})});
  };
  EXPECT_EQ(error_text(run(R"(
    a = [1, 2]
    b = a
    b.append(3)
    b += [4]
    a[0], a[-1] = 9, 8
    assert a == [9, 2, 3, 8] and a is b and a.pop() == 8 and len(b) == 3
    d = {"k": a}
    d["k"].insert(0, 5)
    d.setdefault("n", []).append(1)
    d.update({"m": 2})
    assert a[0] == 5 and list(d) == ["k", "n", "m"] and d.pop("n") == [1] and "n" not in d
    first, *rest = a
    assert first == 5 and rest == [9, 2, 3]
    assert sorted([3, 1, 2], reverse=True) == [3, 2, 1] and {i: i * i for i in range(3)}[2] == 4
)")),
            "no error");
  EXPECT_THAT(error_text(run("    a = []\n    a.append((1, a))\n")), testing::HasSubstr("cannot hold itself"));
  EXPECT_THAT(error_text(run("    d = {}\n    d['d'] = [d]\n")), testing::HasSubstr("cannot hold itself"));
  // A chain that is deeper than any stack is taken apart all the same.
  EXPECT_EQ(
      error_text(run("    a = []\n    for i in range(60000):\n        b = []\n        a.append(b)\n        a = b\n")),
      "no error");
}

TEST(Plan, CopiesAndCastsAreLaunchesOfAKernelOfOurs) {
  const std::string text = plan_text("x", R"(
    y = x.t().contiguous()
    z = y.to(torch.float16)
    w = z.clone()
    v = x.float().to(x.device).contiguous()
    u = torch.empty((2, 3), dtype=torch.float64)
    u.copy_(z.t()[:, :1])
    k[1](x, y, w, v, u)
    return w
)");
  const LaunchList list = expect_list(run_plan(text, {tensor({2, 3})}));
  ASSERT_EQ(list.launches.size(), 5u);
  for (size_t i = 0; i < 4; ++i) {
    EXPECT_EQ(list.launches[i].origin, KernelOrigin::Builtin);
    EXPECT_EQ(list.launches[i].kernel, "passnet_copy");
    EXPECT_EQ(list.launches[i].args.size(), 27u);
  }
  EXPECT_EQ(list.launches[0].constants[2], (NamedConstant{"RANK", int64_t{2}}));
  EXPECT_EQ(list.launches[1].constants[3], (NamedConstant{"DENSE", true}));
  EXPECT_EQ(list.launches[1].constants[1], (NamedConstant{"TO", ir::DType::Float16}));
  EXPECT_EQ(std::get<View>(list.launches[4].args[3]).buffer, 0u);  // nothing was copied for v
  const auto back = launch_list_from_json(to_json(list));
  ASSERT_TRUE(back) << to_string(back.error());
  EXPECT_EQ(*back, list);
}

TEST(Plan, RefusesInputsThatMakeNoSense) {
  const std::string text = plan_text("x", "    return x\n");
  const ir::TensorType huge{ir::DType::Float32, {int64_t{1} << 40, int64_t{1} << 40}, {1, 1}};
  auto evaluated = run_plan(text, {huge});
  ASSERT_FALSE(evaluated);
  EXPECT_EQ(evaluated.error().kind, Error::Kind::BadInput);
  EXPECT_EQ(evaluated.error().message,
            "input 0 of the site: tensor too large: [1099511627776, 1099511627776] has more than 2^60 elements");
}

}  // namespace
}  // namespace passnet::pass
