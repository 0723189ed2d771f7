// One canonical form for all spellings of a call; errors that name the argument.
#include <gmock/gmock.h>

#include <algorithm>
#include <set>

#include "fx/print.h"
#include "fx/syntax/parser.h"
#include "ir/ops/table.h"
#include "ir/verify.h"

namespace passnet::ir {
namespace {

Graph parse(const std::string& body) {
  size_t end = 0;
  const std::string text = "def f(x, y, z):\n    r = " + body + "\n    return r\n";
  auto graph = fx::parse_function("model.py", std::make_shared<const std::string>(text), 0, &end);
  if (!graph) {
    ADD_FAILURE() << to_string(graph.error());
    return {};
  }
  return std::move(*graph);
}

/// "add(input=x, other=y, alpha=1)" of the last call in `body`.
std::string canonical(const std::string& body) {
  Graph graph = parse(body);
  const NodeId id = graph.output() - 1;
  auto call = canonicalize(graph, id);
  if (!call) return to_string(call.error());
  std::string text = std::string(call->name) + "(";
  for (size_t i = 0; i < call->args.size(); ++i)
    text += (i == 0 ? "" : ", ") + std::string(call->names[i]) + "=" + fx::print_arg(graph, call->args[i]);
  std::replace(text.begin(), text.end(), '"', '\'');  // either quote is Python
  return text + ")";
}

struct Same {
  std::vector<std::string> spellings;
  std::string expected;
};

// A table: the spellings of a call, and its form.
TEST(OpTable, SpellingsOfOneCallHaveOneCanonicalForm) {
  const std::vector<Same> cases = {
      {{"torch.relu(x)", "x.relu()", "torch.nn.functional.relu(x)", "torch.nn.functional.relu(x, inplace=False)",
        "torch.ops.aten.relu.default(x)"},
       "relu(input=x, inplace=False)"},
      {{"x.relu_()", "torch.relu_(x)", "torch.nn.functional.relu(x, True)", "torch.nn.functional.relu_(x)"},
       "relu(input=x, inplace=True)"},
      {{"x + y", "torch.add(x, y)", "x.add(y)", "torch.add(x, other=y, alpha=1)", "torch.ops.aten.add.Tensor(x, y)"},
       "add(input=x, other=y, alpha=1)"},
      {{"2 * x", "x * 2", "torch.mul(x, 2)", "x.multiply(2)"}, "mul(input=x, other=2)"},
      {{"2 - x", "torch.rsub(x, 2)", "torch.sub(2, x)"}, "sub(input=2, other=x, alpha=1)"},
      {{"x.add_(y)", "torch.ops.aten.add_.Tensor(x, y)"}, "add_(input=x, other=y, alpha=1)"},
      {{"x / 8", "x / 8.0", "torch.div(x, 8)", "x.true_divide(8)"}, "div(input=x, other=8.0, rounding_mode=None)"},
      {{"x // 2", "torch.floor_divide(x, 2)", "torch.div(x, 2, rounding_mode='floor')"},
       "div(input=x, other=2, rounding_mode='floor')"},
      {{"x ** 2", "torch.pow(x, 2)", "x.pow(exponent=2)"}, "pow(input=x, exponent=2)"},
      {{"-x", "torch.neg(x)", "x.neg()", "torch.negative(x)"}, "neg(input=x)"},
      {{"x @ y", "torch.matmul(x, y)", "x.matmul(y)"}, "matmul(input=x, other=y)"},
      {{"torch.nn.functional.softmax(x, dim=-1)", "x.softmax(-1)", "torch.softmax(x, -1)",
        "torch.nn.functional.softmax(x, -1, _stacklevel=5)"},
       "softmax(input=x, dim=-1, dtype=None)"},
      {{"x.transpose(1, 2)", "torch.transpose(x, 1, 2)", "torch.swapaxes(x, 1, 2)", "x.transpose(dim0=1, dim1=2)"},
       "transpose(input=x, dim0=1, dim1=2)"},
      {{"x.view(2, -1)", "x.view((2, -1))", "x.view([2, -1])"}, "view(input=x, size=(2, -1))"},
      {{"x.permute(0, 2, 1)", "x.permute((0, 2, 1))", "torch.permute(x, [0, 2, 1])"},
       "permute(input=x, dims=(0, 2, 1))"},
      {{"x.reshape(-1)", "torch.reshape(x, (-1,))"}, "reshape(input=x, shape=(-1,))"},
      {{"x.mean((2, 3), keepdim=True)", "torch.mean(x, [2, 3], True)", "x.mean(axis=(2, 3), keepdims=True)"},
       "mean(input=x, dim=(2, 3), keepdim=True, dtype=None)"},
      {{"x.sum(1)", "torch.sum(x, (1,))"}, "sum(input=x, dim=(1,), keepdim=False, dtype=None)"},
      {{"torch.nn.functional.linear(x, y)", "torch._C._nn.linear(x, y, None)"}, "linear(input=x, weight=y, bias=None)"},
      {{"torch._C._nn.gelu(x)", "torch.nn.functional.gelu(x, approximate='none')"},
       "gelu(input=x, approximate='none')"},
      {{"x.to(torch.float16)", "x.half()", "x.to(dtype=torch.float16)", "x.type(torch.float16)"},
       "to(input=x, device=None, dtype=torch.float16, non_blocking=False, copy=False, "
       "memory_format=torch.preserve_format, "
       "other=None)"},
      {{"x.size(0)"}, "size(input=x, dim=0)"},
      {{"x.shape", "x.size()"}, "size(input=x, dim=None)"},
      {{"torch.nn.functional.adaptive_avg_pool2d(x, 1)", "torch.nn.functional.adaptive_avg_pool2d(x, (1, 1))"},
       "adaptive_avg_pool2d(input=x, output_size=(1, 1))"},
      {{"torch.conv2d(x, y, None, 1, 0, 1, 1)", "torch.conv2d(x, y, stride=(1, 1))",
        "torch.nn.functional.conv2d(x, y)"},
       "conv2d(input=x, weight=y, bias=None, stride=(1, 1), padding=(0, 0), dilation=(1, 1), groups=1)"},
      {{"torch.max_pool2d(x, 2)",
        "torch.nn.functional.max_pool2d(x, 2, None, 0, 1, ceil_mode=False, return_indices=False)"},
       "max_pool2d(input=x, kernel_size=(2, 2), stride=None, padding=(0, 0), dilation=(1, 1), "
       "ceil_mode=False, "
       "return_indices=False)"},
      {{"torch.nn.functional.batch_norm(x, y, z, None, None, False, 0.1, 1e-05)",
        "torch.batch_norm(x, None, None, y, z, False, 0.1, 1e-05, True)"},
       "batch_norm(input=x, running_mean=y, running_var=z, weight=None, bias=None, training=False, "
       "momentum=0.1, eps=1e-05)"},
      {{"torch.nn.functional.dropout(x, 0.1, False, False)", "torch.dropout(x, 0.1, False)"},
       "dropout(input=x, p=0.1, training=False, inplace=False)"},
      {{"torch.where(x, y, z)", "y.where(x, z)"}, "where(condition=x, input=y, other=z)"},
      {{"torch.max(x, y)", "x.max(y)", "x.max(other=y)"}, "max(input=x, dim=None, keepdim=False, other=y)"},
      {{"x.max(1)", "torch.max(x, dim=1)"}, "max(input=x, dim=1, keepdim=False, other=None)"},
      {{"torch.functional.split(x, 2, -1)", "x.split(2, -1)", "torch.split(x, split_size_or_sections=2, dim=-1)"},
       "split(input=x, split_size=2, dim=-1)"},
      {{"torch.einsum('ij,jk', x, y)", "torch.functional.einsum('ij,jk', [x, y])"},
       "einsum(equation='ij,jk', operands=(x, y))"},
      {{"torch.cat([x, y], 1)", "torch.concat((x, y), dim=1)"}, "cat(tensors=(x, y), dim=1)"},
      {{"x[[0, 1]]"}, "getitem(input=x, index=[0, 1])"},
      {{"torch.nn.functional.layer_norm(x, (8,))", "torch.layer_norm(x, [8], None, None, 1e-05, True)"},
       "layer_norm(input=x, normalized_shape=(8,), weight=None, bias=None, eps=1e-05)"},
      {{"torch.arange(5)", "torch.arange(0, 5)", "torch.arange(0, 5, 1)"},
       "arange(end=5, start=0, step=1, dtype=None, layout=None, device=None, pin_memory=False, "
       "requires_grad=False)"},
  };
  for (const Same& same : cases) {
    for (const std::string& spelling : same.spellings) EXPECT_EQ(canonical(spelling), same.expected) << spelling;
  }
}

TEST(OpTable, UnknownCallsKeepTheirSpellingAndSortKeywords) {
  EXPECT_EQ(canonical("torch.my.op(x, 1, z=2, b=[y])"), "function:torch.my.op(0=x, 1=1, b=(y,), z=2)");
  EXPECT_EQ(canonical("x.frobnicate(1)"), "method:frobnicate(0=x, 1=1)");
}

TEST(OpTable, ErrorsNameTheArgument) {
  EXPECT_EQ(canonical("torch.nn.functional.layer_norm(x, (8,), ep=1e-6)"),
            "model.py:2:9: error: layer_norm has no argument 'ep'\nhint: did you mean 'eps'?");
  EXPECT_EQ(canonical("torch.relu(x, 1)"),
            "model.py:2:9: error: too many arguments of relu: found 2, expected at most 1");
  EXPECT_EQ(canonical("torch.transpose(x, 1)"), "model.py:2:9: error: transpose needs argument 'dim1'");
  EXPECT_EQ(canonical("torch.transpose(x, 1, 2, dim0=1)"),
            "model.py:2:9: error: argument 'dim0' of transpose is given twice");
  EXPECT_EQ(canonical("x.to(3)"), "model.py:2:9: error: argument 'device' of to: found an int, expected a device");
}

/// The canonical parameters of the last call's arguments.
std::string parameters(const std::string& body) {
  const Graph graph = parse(body);
  std::string text;
  for (const std::string_view name : argument_parameters(graph, graph.output() - 1))
    text += (text.empty() ? "" : " ") + std::string(name);
  return text;
}

TEST(OpTable, TellsWhichParameterAnArgumentIsGivenTo) {
  EXPECT_EQ(parameters("torch.split(x, 3, dim=1)"), "input split_size dim");
  EXPECT_EQ(parameters("torch.split(tensor=x, split_size_or_sections=3)"), "input split_size");
  EXPECT_EQ(parameters("x.split_with_sizes(dim=1, split_sizes=[1, 2])"), "input dim split_size");
  EXPECT_EQ(parameters("x.view(1, -1, 8)"), "input size size size");
  EXPECT_EQ(parameters("torch.arange(2, 8)"), "start end");
  EXPECT_EQ(parameters("torch.arange(8)"), "end");
  EXPECT_EQ(parameters("torch.rsub(x, 2)"), "other input");
  EXPECT_EQ(parameters("torch.softmax(x, 1, _stacklevel=3)"), "");
  EXPECT_EQ(parameters("torch.mystery(x, 2)"), "");
}

/// The role of each parameter of the last call, those that have one.
TEST(OpTable, TellsWhatArgumentsSayAboutShapes) {
  const auto role = [](const std::string& body, std::string_view parameter) {
    const Graph graph = parse(body);
    const Parameter* found = find_signature(graph.node(graph.output() - 1))->find(parameter);
    return found == nullptr ? Role::None : found->role;
  };
  EXPECT_EQ(role("x.view(8)", "size"), Role::View);
  EXPECT_EQ(role("x.expand(8, 8)", "size"), Role::Expand);
  EXPECT_EQ(role("torch.tile(x, (2, 2))", "dims"), Role::Repeat);
  EXPECT_EQ(role("torch.zeros(8)", "size"), Role::Create);
  EXPECT_EQ(role("torch.arange(8)", "end"), Role::Range);
  EXPECT_EQ(role("x[2]", "index"), Role::Slice);
  EXPECT_EQ(role("torch.split(x, 2)", "split_size"), Role::Split);
  EXPECT_EQ(role("x + 2", "other"), Role::Number);
  EXPECT_EQ(role("x.clamp(0, 223)", "max"), Role::Bound);
  EXPECT_EQ(role("x.as_strided((2,), (1,))", "stride"), Role::Strides);
  EXPECT_EQ(role("torch.nn.functional.pad(x, (0, 1))", "pad"), Role::Padding);
  EXPECT_EQ(role("torch.nn.functional.avg_pool2d(x, 2)", "kernel_size"), Role::Window);
  EXPECT_EQ(role("torch.conv2d(x, y)", "stride"), Role::Step);
  EXPECT_EQ(role("torch.nn.functional.scaled_dot_product_attention(x, y, z)", "attn_mask"), Role::Mask);
  EXPECT_EQ(role("torch.nn.functional.embedding(x, y)", "weight"), Role::Table);
  EXPECT_EQ(role("torch._C._functorch._vmap_increment_nesting(8, 'same')", "batch_size"), Role::Batch);
  EXPECT_EQ(role("x.sum(1)", "dim"), Role::None);
  EXPECT_EQ(role("x.add_(2)", "other"), Role::None);
}

TEST(OpTable, KnowsWhatHoldsOfAnOperator) {
  const auto signature = [](const std::string& body) {
    const Graph graph = parse(body);
    return find_signature(graph.node(graph.output() - 1));
  };
  EXPECT_TRUE(signature("x @ y")->uniform);
  EXPECT_FALSE(signature("x + y")->uniform);
  EXPECT_TRUE(signature("x.view(8)")->positions);
  EXPECT_FALSE(signature("x.sum(1)")->positions);
  EXPECT_EQ(signature("torch.conv1d(x, y)")->flops, FlopRule::Convolution);
  EXPECT_EQ(signature("torch.addmm(x, y, z)")->flops, FlopRule::Addend);
  EXPECT_EQ(signature("torch.nn.functional.scaled_dot_product_attention(x, y, z)")->flops, FlopRule::Attention);
  EXPECT_EQ(signature("torch.mm(x, y)")->flops, FlopRule::Product);
  EXPECT_EQ(signature("torch.conv_transpose2d(x, y)")->flops, FlopRule::Transposed);
  EXPECT_EQ(signature("torch.einsum('ij,jk->ik', x, y)")->flops, FlopRule::Einsum);
  EXPECT_EQ(signature("torch.sort(x)")->flops, FlopRule::Elements);
  for (const char* yes : {"add", "add_", "multiply", "true_divide", "floor_divide", "eq"})
    EXPECT_TRUE(wraps_number(yes)) << yes;
  for (const char* no : {"rsub", "pow", "relu", "nothing"}) EXPECT_FALSE(wraps_number(no)) << no;
}

TEST(OpTable, FindsTheArgumentOfAParameter) {
  const auto found = [](const std::string& body, std::string_view parameter) {
    const Graph graph = parse(body);
    const Arg* arg = find_argument(graph, graph.output() - 1, parameter);
    return arg == nullptr ? std::string("none") : fx::print_arg(graph, *arg);
  };
  EXPECT_EQ(found("torch.split(x, 3, 1)", "dim"), "1");
  EXPECT_EQ(found("torch.split(x, split_size_or_sections=3)", "split_size"), "3");
  EXPECT_EQ(found("torch.split(x, 3)", "dim"), "none");
  EXPECT_EQ(found("torch.mystery(x, dim=3)", "dim"), "none");
}

TEST(OpTable, KnowsWhatACallCosts) {
  const auto kernel = [](const std::string& body) {
    const Graph graph = parse(body);
    return find_signature(graph.node(graph.output() - 1))->kernel;
  };
  EXPECT_EQ(kernel("torch.fft.rfft(x)"), KernelClass::Library);
  EXPECT_EQ(kernel("torch._C._linalg.linalg_vector_norm(x)"), KernelClass::Reduction);
  EXPECT_EQ(kernel("torch.nn.functional.huber_loss(x, y)"), KernelClass::Reduction);
  EXPECT_EQ(kernel("torch.nn.functional.lp_pool2d(x, 2.0, 3)"), KernelClass::Stencil);
  EXPECT_EQ(kernel("x.dtype"), KernelClass::Free);
  EXPECT_EQ(kernel("torch.sym_max(x, y)"), KernelClass::Free);
  EXPECT_EQ(kernel("x.view(8)"), KernelClass::Free);
  EXPECT_EQ(kernel("x.float()"), KernelClass::Pointwise);
  EXPECT_EQ(kernel("x + y"), KernelClass::Pointwise);
  // In place an operator costs what it costs otherwise, though its result is its input.
  EXPECT_EQ(kernel("x.add_(y)"), KernelClass::Pointwise);
  EXPECT_EQ(kernel("x.cumsum_(0)"), KernelClass::Reduction);
  EXPECT_EQ(kernel("x.addmm_(y, z)"), KernelClass::Library);
  EXPECT_EQ(kernel("x.transpose_(0, 1)"), KernelClass::Free);
}

TEST(OpTable, KnowsWhatWorksInPlace) {
  const auto in_place = [](const std::string& body) {
    const Graph graph = parse(body);
    return overwrites_input(graph, graph.output() - 1);
  };
  for (const char* yes : {"x.add_(y)", "x.relu_()", "torch.nn.functional.relu(x, inplace=True)",
                          "torch.nn.functional.relu(x, True)", "x.copy_(y)", "torch.my.op_(x)", "x.__iadd__(y)"})
    EXPECT_TRUE(in_place(yes)) << yes;
  for (const char* no : {"x + y", "x.relu()", "torch.nn.functional.relu(x)", "x == y", "x <= y", "x.__add__(y)",
                         "x.__invert__()", "torch.my.op(x)", "x.requires_grad_()"})
    EXPECT_EQ(in_place(no), false) << no;
}

TEST(OpTable, SignaturesTellTheirProperties) {
  const auto signature = [](const std::string& body) {
    const Graph graph = parse(body);
    return find_signature(graph.node(graph.output() - 1));
  };
  EXPECT_EQ(signature("torch.relu(x)"), signature("x.relu()"));
  EXPECT_TRUE(signature("x + y")->commutative);
  EXPECT_FALSE(signature("x - y")->commutative);
  EXPECT_FALSE(signature("x.add_(y)")->commutative);
  EXPECT_EQ(signature("x.add_(y)")->in_place_parameter, "input");
  EXPECT_EQ(signature("torch.nn.functional.silu(x)")->in_place_flag, "inplace");
  EXPECT_TRUE(signature("x.view(1)")->view);
  EXPECT_TRUE(signature("torch.rand(1)")->keep);
  EXPECT_EQ(signature("x.frobnicate()"), nullptr);
}

TEST(OpTable, OperatorsCommuteWhoseTwoOperandsMayBeSwapped) {
  std::set<std::string_view> commute;
  for (const OpSignature* op : op_table().operators()) {
    if (op->commutative) commute.insert(op->name);
  }
  EXPECT_THAT(commute,
              testing::UnorderedElementsAre("add", "mul", "maximum", "minimum", "fmax", "fmin", "hypot", "logaddexp",
                                            "eq", "ne", "logical_and", "logical_or", "logical_xor", "bitwise_and",
                                            "bitwise_or", "bitwise_xor", "dot", "sym_max", "sym_min"));
}

TEST(OpTable, SuggestsTheNearestTarget) {
  EXPECT_EQ(nearest_target(NodeKind::CallFunction, "torch.nn.functional.gelo"), "torch.nn.functional.gelu");
  EXPECT_EQ(nearest_target(NodeKind::CallFunction, "torch.silu"), "torch._C._nn.silu");
  EXPECT_EQ(nearest_target(NodeKind::CallMethod, "trnspose"), "transpose");
  EXPECT_EQ(nearest_target(NodeKind::CallFunction, "numpy.random.default_rng"), "");
  EXPECT_THAT(op_table().targets(), testing::Contains("torch.nn.functional.relu"));
  EXPECT_THAT(op_table().targets(), testing::Contains("Tensor.view"));
}

TEST(Verify, NamesTheNodeThatIsWrong) {
  const auto message = [](const Graph& graph) {
    const auto result = verify(graph);
    return result ? std::string() : result.error().message;
  };
  Graph graph;
  EXPECT_EQ(message(graph), "the graph has no nodes");
  graph.add_placeholder("x", "x");
  EXPECT_EQ(message(graph), "node 0 'x': the output must be the last node, and the last node the output");
  Graph early = graph;
  const Arg later[] = {Arg::of_node(2)};
  early.add_node(NodeKind::CallMethod, "exp", "e", later);
  early.add_output(Arg::of_node(1));
  EXPECT_EQ(message(early), "node 1 'e' uses 'output' (node 2) before its definition");
  Graph absent = graph;
  const Arg nowhere[] = {Arg::of_node(9)};
  absent.add_node(NodeKind::CallMethod, "exp", "e", nowhere);
  absent.add_output(Arg::of_node(1));
  EXPECT_EQ(message(absent), "node 1 'e' uses node 9, which does not exist");
  Graph twice = graph;
  const Arg x[] = {Arg::of_node(0)};
  twice.add_node(NodeKind::CallMethod, "exp", "x", x);
  twice.add_output(Arg::of_node(1));
  EXPECT_EQ(message(twice), "nodes 0 and 1 are both named 'x'");
  graph.add_node(NodeKind::CallMethod, "exp", "e", x);
  graph.add_output(Arg::of_node(1));
  EXPECT_EQ(message(graph), "");
}

}  // namespace
}  // namespace passnet::ir
