// Expressions: what each becomes, by the text of its nodes.
#include <gtest/gtest.h>

#include "graph_text.h"

namespace passnet::fx {
namespace {

TEST(Expression, CallKeepsPositionalAndKeywordArguments) {
  EXPECT_EQ(dump_expression("torch.add(a, b, alpha=2)"), "r = torch.add(a, b, alpha = 2)\n");
  EXPECT_EQ(dump_expression("a.view(-1, 4)"), "r = a.view(-1, 4)\n");
  EXPECT_EQ(dump_expression("torch.cat([a, b], dim=1)"), "r = torch.cat([a, b], dim = 1)\n");
}

TEST(Expression, NestedCallsBecomeNodesNamedAfterWhatTheyCall) {
  EXPECT_EQ(dump_expression("torch.nn.functional.relu(torch.add(a, b).view(-1))"),
            "add = torch.add(a, b)\nview = add.view(-1)\nr = torch.nn.functional.relu(view)\n");
  EXPECT_EQ(dump_expression("torch.ops.aten.relu.default(a) + a.relu() + a.relu()"),
            "relu = torch.ops.aten.relu.default(a)\nrelu_1 = a.relu()\nadd = relu + relu_1\nrelu_2 = "
            "a.relu()\nr = add + relu_2\n");
}

TEST(Expression, PrecedenceIsPythons) {
  EXPECT_EQ(dump_expression("a + b * c"), "mul = b * c\nr = a + mul\n");
  EXPECT_EQ(dump_expression("(a + b) * c"), "add = a + b\nr = add * c\n");
  EXPECT_EQ(dump_expression("a - b - c"), "sub = a - b\nr = sub - c\n");
  EXPECT_EQ(dump_expression("a ** b ** c"), "pow = b ** c\nr = a ** pow\n");
  EXPECT_EQ(dump_expression("-a ** b"), "pow = a ** b\nr = -pow\n");
  EXPECT_EQ(dump_expression("a ** -b"), "neg = -b\nr = a ** neg\n");
  EXPECT_EQ(dump_expression("a @ b + c"), "matmul = a @ b\nr = matmul + c\n");
  EXPECT_EQ(dump_expression("a | b ^ c & a << 1"), "lshift = a << 1\nand_ = c & lshift\nxor = b ^ and_\nr = a | xor\n");
}

TEST(Expression, ComparisonsBindLeast) {
  EXPECT_EQ(dump_expression("a + 1 < b"), "add = a + 1\nr = add < b\n");
  EXPECT_EQ(dump_expression("(a >= b) & (a != c)"), "ge = a >= b\nne = a != c\nr = ge & ne\n");
}

TEST(Expression, SignsBelongToLiterals) {
  EXPECT_EQ(dump_expression("torch.foo(-1, -1.5, -inf, +2, -(3), --4)"), "r = torch.foo(-1, -1.5, -inf, 2, -3, 4)\n");
  EXPECT_EQ(dump_expression("-2 ** a"), "pow = 2 ** a\nr = -pow\n");
  EXPECT_EQ(dump_expression("(-2) ** a"), "r = (-2) ** a\n");
  EXPECT_EQ(dump_expression("-a"), "r = -a\n");
  EXPECT_EQ(dump_expression("~a"), "r = ~a\n");
  EXPECT_EQ(dump_expression("+a"), "r = +a\n");
}

TEST(Expression, LiteralsAreKeptAsTheyAre) {
  EXPECT_EQ(dump_expression("torch.foo(1, 1.0, 1e-05, .5, 1., True, False, None, 'x', ..., Ellipsis)"),
            "r = torch.foo(1, 1.0, 1e-05, 0.5, 1.0, True, False, None, \"x\", Ellipsis, Ellipsis)\n");
  EXPECT_EQ(dump_expression("torch.foo(0x10, 0b11, 0o17, 1_000, 1_0.5)"), "r = torch.foo(16, 3, 15, 1000, 10.5)\n");
  EXPECT_EQ(dump_expression("torch.foo(9223372036854775807, -9223372036854775808)"),
            "r = torch.foo(9223372036854775807, -9223372036854775808)\n");
  EXPECT_EQ(dump_expression("torch.foo(1e999, 1e-999)"), "r = torch.foo(inf, 0.0)\n");
  EXPECT_EQ(dump_expression("torch.foo((), (a,), (a, 1), [], [[a]], ((1, 2),))"),
            "r = torch.foo((), (a,), (a, 1), [], [[a]], ((1, 2),))\n");
}

TEST(Expression, InfinityHasManySpellings) {
  EXPECT_EQ(dump_expression("torch.foo(inf, float('inf'), -float('inf'), float('-inf'), torch.inf, float('nan'), nan)"),
            "r = torch.foo(inf, inf, -inf, -inf, inf, nan, nan)\n");
  EXPECT_EQ(dump_expression("torch.foo(torch.pi, float('1.5'))"), "r = torch.foo(3.141592653589793, 1.5)\n");
}

TEST(Expression, StringsAreDecoded) {
  EXPECT_EQ(dump_expression(R"(torch.foo("a'b", 'c"d', 'e\n\x41é\\', r'\n', 'a' "b", '''t''', ""))"),
            "r = torch.foo(\"a'b\", \"c\\\"d\", \"e\\nAé\\\\\", \"\\\\n\", \"ab\", \"t\", \"\")\n");
  EXPECT_EQ(dump_expression("torch.foo('...,ij', '\\101\\u00e9\\U0001F600\\q')"),
            "r = torch.foo(\"...,ij\", \"A\u00e9\U0001F600\\\\q\")\n");
}

TEST(Expression, TorchConstantsHaveTheirOwnKinds) {
  EXPECT_EQ(dump_expression("a.to(torch.float16, memory_format=torch.channels_last)"),
            "r = a.to(torch.float16, memory_format = torch.channels_last)\n");
  const ir::Graph graph = parse("a", "r = torch.foo(torch.half, torch.strided, torch.device('cuda:1'))\nreturn r");
  const auto args = graph.args(1);
  EXPECT_EQ(args[0].kind, ir::ArgKind::DType);
  EXPECT_EQ(args[0].dtype, ir::DType::Float16);
  EXPECT_EQ(args[1].kind, ir::ArgKind::Constant);
  EXPECT_EQ(args[1].string(), "torch.strided");
  EXPECT_EQ(args[2].kind, ir::ArgKind::Device);
  EXPECT_EQ(args[2].string(), "cuda:1");
}

TEST(Expression, DevicesHaveManySpellings) {
  EXPECT_EQ(dump_expression("torch.foo(device(type='cuda', index=0), device(type=\"cpu\"), torch.device('cuda', "
                            "1), device('cuda:2'))"),
            "r = torch.foo(device(type=\"cuda\", index=0), device(type=\"cpu\"), device(type=\"cuda\", index=1), "
            "device(type=\"cuda\", index=2))\n");
}

TEST(Expression, IndexesAreGetitemNodes) {
  EXPECT_EQ(dump_expression("a[0]"), "r = a[0]\n");
  EXPECT_EQ(dump_expression("a[0][b]"), "getitem = a[0]\nr = getitem[b]\n");
  EXPECT_EQ(dump_expression("a[(Ellipsis, slice(None, -1, 2))]"), "r = a[(Ellipsis, slice(None, -1, 2))]\n");
  EXPECT_EQ(dump_expression("a[..., :-1:2]"), "r = a[(Ellipsis, slice(None, -1, 2))]\n");
  EXPECT_EQ(dump_expression("a[1:, None, ::2, :b, :]"),
            "r = a[(slice(1, None, None), None, slice(None, None, 2), slice(None, b, None), slice(None, "
            "None, None))]\n");
  EXPECT_EQ(dump_expression("a[1:3]"), "r = a[slice(1, 3, None)]\n");
  EXPECT_EQ(dump_expression("a[1,]"), "r = a[(1,)]\n");
  EXPECT_EQ(dump_expression("a[()]"), "r = a[()]\n");
  EXPECT_EQ(dump_expression("a[slice(3)]"), "r = a[slice(None, 3, None)]\n");
}

TEST(Expression, AttributesAreNodes) {
  EXPECT_EQ(dump_expression("a.T"), "r = a.T\n");
  EXPECT_EQ(dump_expression("a.shape[0]"), "shape = a.shape\nr = shape[0]\n");
  EXPECT_EQ(dump_expression("torch.finfo(torch.float32).min"), "finfo = torch.finfo(torch.float32)\nr = finfo.min\n");
}

TEST(Expression, OperatorFunctionsAreOperators) {
  const std::string imports = "import torch, operator, _operator\n";
  EXPECT_EQ(
      dump(parse_text(model_text(
          "a, b", "r = operator.add(a, b)\ns = operator.iadd(r, 1)\nt = _operator.getitem(s, 0)\nreturn t", imports))),
      "r = a + b\nr += 1; s = r\nt = s[0]\nreturn t\n");
}

TEST(Expression, LinesJoinInBracketsAndAfterBackslashes) {
  EXPECT_EQ(dump_body("r = (  # comment (\n    a\n\n    + b  # more )\n)\ns = r \\\n    * 2\nreturn (r, s)"),
            "r = a + b\ns = r * 2\nreturn (r, s)\n");
  EXPECT_EQ(dump_body("r = torch . add(a,\n  b,\n)\nreturn r"), "r = torch.add(a, b)\nreturn r\n");
}

TEST(Expression, NodesPointAtTheirOwnPlace) {
  const auto graph = parse_text(model_text("a", "r = torch.relu(a.view(-1))\nreturn r", "import torch\n"));
  ASSERT_TRUE(graph);
  EXPECT_EQ(graph->locate(graph->node(1)), (SourceLoc{"model.py", 5, 24}));
  EXPECT_EQ(graph->locate(graph->node(2)), (SourceLoc{"model.py", 5, 13}));
}

TEST(Expression, NestingIsBounded) {
  const auto nested = [](int depth) {
    return dump_expression(std::string(static_cast<size_t>(depth), '(') + "a" +
                           std::string(static_cast<size_t>(depth), ')') + ".T");
  };
  EXPECT_EQ(nested(200), "r = a.T\n");
  EXPECT_EQ(nested(100000).substr(0, 80),
            "model.py:6:269: error: nested too deeply: more than 256 levels of brackets and o");
  std::string calls = "a";
  for (int i = 0; i < 1000; ++i) calls = "torch.relu(" + calls + ")";
  EXPECT_NE(dump_expression(calls).find("error: nested too deeply"), std::string::npos);
  EXPECT_NE(dump_expression(std::string(100000, '-') + "a").find("error: nested too deeply"), std::string::npos);
}

}  // namespace
}  // namespace passnet::fx
