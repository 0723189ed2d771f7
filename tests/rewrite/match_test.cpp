// What matches what, and what is said when nothing does.
#include "rewrite/match.h"

#include <gmock/gmock.h>

#include "tests/rewrite/text.h"

namespace passnet::rewrite {
namespace {

class Matches : public testing::TestWithParam<Case> {};

TEST_P(Matches, AsExpected) {
  const Case& c = GetParam();
  EXPECT_EQ(outcome(c.pattern, c.graph), c.expected) << "pattern:\n" << c.pattern << "\ngraph:\n" << c.graph;
}

constexpr const char* kAddRelu = R"(def pattern(x, y):
    t = x + y
    return torch.nn.functional.relu(t)
)";

const Case kSpellings[] = {
    {"Function", kAddRelu, "def f(a, b):\n    c = torch.add(a, b)\n    d = torch.relu(c)\n    return (d,)\n",
     "x=a, y=b -> d"},
    {"Method", kAddRelu, "def f(a, b):\n    c = a.add(b)\n    d = c.relu()\n    return (d,)\n", "x=a, y=b -> d"},
    {"Keyword", kAddRelu,
     "def f(a, b):\n    c = torch.add(input=a, other=b, alpha=1)\n    d = torch.nn.functional.relu(c, "
     "False)\n    return (d,)\n",
     "x=a, y=b -> d"},
    {"Aten", kAddRelu,
     "def f(a, b):\n    c = torch.ops.aten.add.Tensor(a, b)\n    d = torch.ops.aten.relu.default(c)\n    "
     "return (d,)\n",
     "x=a, y=b -> d"},
    {"ConstantInput", kAddRelu, "def f(a):\n    c = 1.5 + a\n    d = c.relu()\n    return (d,)\n", "x=a, y=1.5 -> d"},
    {"ListIsTuple", "def pattern(x):\n    return x.mean([2, 3], keepdim=True)\n",
     "def f(a):\n    b = torch.mean(a, (2, 3), True)\n    return b\n", "x=a -> b"},
    {"ListIsNotTupleInAnIndex", "def pattern(x):\n    return x[[0, 1]]\n", "def f(a):\n    b = a[0, 1]\n    return b\n",
     "1/1 argument 'index' of getitem: found (0, 1), expected [0, 1]"},
    {"IntIsFloatWhereAFloatIsExpected", "def pattern(x):\n    return torch.nn.functional.leaky_relu(x, 1)\n",
     "def f(a):\n    b = torch.nn.functional.leaky_relu(a, 1.0)\n    return b\n", "x=a -> b"},
    {"IntIsNotFloatInAProduct", "def pattern(x):\n    return x * 2\n", "def f(a):\n    b = a * 2.0\n    return b\n",
     "1/1 argument 'other' of mul: found 2.0, expected 2"},
    {"BoolIsNotInt", "def pattern(x):\n    return x * True\n", "def f(a):\n    b = a * 1\n    return b\n",
     "1/1 argument 'other' of mul: found 1, expected True"},
    {"VariadicPermute", "def pattern(x):\n    return x.permute(0, 2, 1)\n",
     "def f(a):\n    b = torch.permute(a, (0, 2, 1))\n    return b\n", "x=a -> b"},
    {"ParameterStandsForADtype", "def pattern(x, kind):\n    return x.to(dtype=kind)\n",
     "def f(a):\n    b = a.to(torch.float16)\n    return b\n", "x=a, kind=torch.float16 -> b"},
    {"CastByDtype", "def pattern(x):\n    return x.to(torch.float32)\n", "def f(a):\n    b = a.float()\n    return b\n",
     "x=a -> b"},
    {"StrideOfOneInt", "def pattern(x, w):\n    return torch.conv2d(x, w, None, 1, 1)\n",
     "def f(a, w):\n    b = torch.conv2d(a, w, padding=(1, 1))\n    return b\n", "x=a, w=w -> b"},
    {"UnknownOperator", "def pattern(x):\n    return torch.my.op(x, k=1)\n",
     "def f(a):\n    b = torch.my.op(a, k=1)\n    return b\n", "x=a -> b"},
    {"UnknownOperatorOtherArguments", "def pattern(x):\n    return torch.my.op(x, k=1)\n",
     "def f(a):\n    b = torch.my.op(a, j=1)\n    return b\n", "0/1 torch.my.op is called with other arguments"},
};
INSTANTIATE_TEST_SUITE_P(Spellings, Matches, testing::ValuesIn(kSpellings), [](const auto& c) { return c.param.name; });

const Case kStructure[] = {
    {"SwappedOperands", "def pattern(x, y):\n    return x.exp() * y.sin()\n",
     "def f(a, b):\n    c = a.sin()\n    d = b.exp()\n    e = c * d\n    return e\n", "x=b, y=a -> e"},
    {"SwapNeedsBacktracking", "def pattern(x, y):\n    return (x + y) + x\n",
     "def f(a, b):\n    c = b + a\n    d = a + c\n    return d\n", "x=a, y=b -> d"},
    {"AlphaForbidsTheSwap", "def pattern(x, y):\n    return torch.add(x.exp(), y, alpha=2)\n",
     "def f(a, b):\n    c = a.exp()\n    d = torch.add(b, c, alpha=2)\n    return d\n",
     "1/2 expected exp, found the graph's input 'b'"},
    {"SubtractionDoesNotCommute", "def pattern(x, y):\n    return x.exp() - y\n",
     "def f(a, b):\n    c = a.exp()\n    d = b - c\n    return d\n", "1/2 expected exp, found the graph's input 'b'"},
    {"SameInputTwice", "def pattern(x):\n    return x * x\n",
     "def f(a, b):\n    c = a * b\n    d = b * b\n    return (c, d)\n", "x=b -> d"},
    {"SameInputTwiceDiffers", "def pattern(x):\n    return x - x\n", "def f(a, b):\n    c = a - b\n    return c\n",
     "1/1 argument 'other' of sub: found the value 'b', but pattern input 'x' already stands for another "
     "value"},
    {"EveryOccurrence", kAddRelu,
     "def f(a, b):\n    c = a + b\n    d = c.relu()\n    e = d + b\n    g = e.relu()\n    return g\n",
     "x=a, y=b -> d\nx=d, y=b -> g"},
    {"SeveralOutputs", "def pattern(x):\n    t = x.exp()\n    return t.sin(), t.cos()\n",
     "def f(a):\n    b = a.exp()\n    c = b.cos()\n    d = b.sin()\n    return (c, d)\n", "x=a -> d, c"},
    {"OutputUsedInside", "def pattern(x):\n    t = x.exp()\n    u = t.sin()\n    return t, u\n",
     "def f(a):\n    b = a.exp()\n    c = b.sin()\n    d = b + c\n    return d\n", "x=a -> b, c"},
    {"TupleOutputs", "def pattern(x):\n    p = torch.var_mean(x, dim=-1)\n    return p[0], p[1]\n",
     "def f(a):\n    b = torch.var_mean(a, -1)\n    c = b[1]\n    d = b[0]\n    return (c, d)\n", "x=a -> d, c"},
    {"PartsJoinedByInputsOnly", "def pattern(x):\n    return x.sin(), x.cos()\n",
     "def f(a, b):\n    c = a.sin()\n    d = b.cos()\n    e = a.cos()\n    return (c, d, e)\n", "x=a -> c, e"},
    {"PartsNotJoinedAtAll", "def pattern(x, y):\n    return x.sin(), y.cos()\n",
     "def f(a, b):\n    c = a.sin()\n    d = b.cos()\n    return (c, d)\n", "x=a, y=b -> c, d"},
    {"DifferentCallsAreDifferentNodes", "def pattern(x, y):\n    return x.sin(), y.sin()\n",
     "def f(a):\n    b = a.sin()\n    return b\n", "1/2 'b' would stand for two operators of the pattern"},
    {"DeadCodeOfThePattern", "def pattern(x):\n    unused = x.sin()\n    return x.cos()\n",
     "def f(a):\n    b = a.cos()\n    return b\n", "x=a -> b"},
    {"ListOfTensors", "def pattern(x, y):\n    return torch.cat([x, y.exp()], 1)\n",
     "def f(a, b):\n    c = b.exp()\n    d = torch.cat((a, c), dim=1)\n    return d\n", "x=a, y=b -> d"},
    {"ListOfOtherLength", "def pattern(x, y):\n    return torch.cat([x, y], 1)\n",
     "def f(a, b):\n    c = torch.cat([a, b, a], 1)\n    return c\n",
     "1/1 argument 'tensors' of cat: found 3 elements, expected 2"},
    {"ListForOneInput", "def pattern(x):\n    return torch.cat(x, 1)\n",
     "def f(a, b):\n    c = torch.cat([a, b], 1)\n    return c\n",
     "1/1 argument 'tensors' of cat: found a list of values, but pattern input 'x' stands for one value"},
};
INSTANTIATE_TEST_SUITE_P(Structure, Matches, testing::ValuesIn(kStructure), [](const auto& c) { return c.param.name; });

constexpr const char* kNormed = R"(def pattern(x, y, w, b):
    t = x + y
    return torch.nn.functional.layer_norm(t, (768,), w, b, 1e-05)
)";

const Case kMisses[] = {
    {"Literal", kNormed,
     "def f(a, b, c, d):\n    e = a + b\n    g = torch.nn.functional.layer_norm(e, (768,), c, d, 1e-06)\n    "
     "return g\n",
     "2/2 argument 'eps' of layer_norm: found 1e-06, expected 1e-05"},
    {"OtherOperator", "def pattern(x):\n    return x.exp().softmax(-1)\n",
     "def f(a):\n    b = a.exp()\n    c = torch.nn.functional.log_softmax(b, -1)\n    return c\n",
     "1/2 expected softmax, found log_softmax; the graph has no softmax at all"},
    {"OperatorNowhere", "def pattern(x):\n    return torch.nn.functional.gelu(x)\n",
     "def f(a, b):\n    c = a + b\n    d = c.sin()\n    return d\n",
     "0/1 the graph has no gelu at all; it has: add, sin"},
    {"OnlyInPlace", "def pattern(x, y):\n    return x + y\n", "def f(a, b):\n    a += b\n    return a\n",
     "0/1 the graph has no add, only add_ (in place)"},
    {"OnlyOutOfPlace", "def pattern(x, y):\n    x += y\n    return x\n", "def f(a, b):\n    c = a + b\n    return c\n",
     "0/1 the graph has no add_ (in place), only add, which does not work in place"},
    {"InPlaceFlag", "def pattern(x):\n    return torch.nn.functional.relu(x, inplace=False)\n",
     "def f(a):\n    b = torch.nn.functional.relu(a, inplace=True)\n    return b\n",
     "1/1 argument 'inplace' of relu: found True, expected False"},
    {"ConstantForAResult", "def pattern(x, y):\n    return x - y.exp()\n",
     "def f(a):\n    b = a.exp()\n    c = b - 1\n    return c\n",
     "1/2 argument 'other' of sub: found 1, expected the result of exp"},
    {"ValueForAConstant", "def pattern(x):\n    return x / 8.0\n", "def f(a, b):\n    c = a / b\n    return c\n",
     "1/1 argument 'other' of div: found the value 'b', expected 8.0"},
    {"GraphWithoutOperators", "def pattern(x):\n    return x.exp()\n", "def f(a):\n    return a\n",
     "0/1 the graph has no exp at all; it has: no operators"},
};
INSTANTIATE_TEST_SUITE_P(Misses, Matches, testing::ValuesIn(kMisses), [](const auto& c) { return c.param.name; });

const Case kRefusals[] = {
    {"InnerValueUsedOutside", kExpSin,
     "def f(a):\n    b = a.exp()\n    c = b.sin()\n    d = b.cos()\n    return (c, d)\n",
     "2/2 inner value 'b' is also used by 'd' at line 4"},
    {"InnerValueReturned", kExpSin, "def f(a):\n    b = a.exp()\n    c = b.sin()\n    return (c, b)\n",
     "2/2 inner value 'b' is also returned by the graph at line 4"},
    {"WriteBetween", "def pattern(x, y):\n    t = x.exp()\n    return t * y.sin()\n",
     "def f(a):\n    c = a.exp()\n    a += 1\n    d = a.sin()\n    e = c * d\n    return e\n",
     "3/3 'iadd' at line 3 overwrites 'a' between the operators of the match"},
    {"UseOfTheInnerValueBetween", "def pattern(x):\n    t = x.exp()\n    t += 1\n    return t.sin()\n",
     "def f(a):\n    b = a.exp()\n    c = b.sum()\n    b += 1\n    d = b.sin()\n    return (c, d)\n",
     "3/3 inner value 'b' is also used by 'c' at line 3"},
    {"WriteThroughAView", "def pattern(x):\n    t = x.exp()\n    return t * x\n",
     "def f(a):\n    v = a.view(-1)\n    c = a.exp()\n    v += 1\n    e = c * a\n    return e\n",
     "2/2 'iadd' at line 4 overwrites 'v' between the operators of the match"},
    {"SetitemBetween", "def pattern(x):\n    t = x.exp()\n    return t * x\n",
     "def f(a):\n    c = a.exp()\n    a[0] = 1\n    e = c * a\n    return e\n",
     "2/2 'setitem' at line 3 overwrites 'a' between the operators of the match"},
    {"DependsOnItself", "def pattern(x, y):\n    t = x.exp()\n    return t, y.sin()\n",
     "def f(a):\n    b = a.exp()\n    c = b.cos()\n    d = c.sin()\n    return (b, d)\n",
     "2/2 the replacement would depend on itself: 'c' at line 3 uses 'b' of the match, and 'd' of the match "
     "needs it"},
    {"InputInsideTheMatch", "def pattern(x, y):\n    t = x.exp()\n    return t, t.sin() * y\n",
     "def f(a):\n    b = a.exp()\n    c = b.sin()\n    d = c * b\n    return (b, d)\n",
     "3/3 pattern input 'y' would be 'b', which the match itself computes"},
    {"Autocast", kExpSin,
     "def f(a):\n    b = a.exp()\n    m = torch.amp.autocast_mode._enter_autocast('cpu', None, False, "
     "None)\n    c = b.sin()\n"
     "    return c\n",
     "2/2 'm' at line 3 changes how operators run, between the operators of the match"},
    {"OverwrittenInputUsedLater", "def pattern(x, y):\n    x += y\n    return x.relu()\n",
     "def f(a, b):\n    v = a.view(-1)\n    a += b\n    c = a.relu()\n    d = v.sum()\n    return (c, d)\n",
     "2/2 'iadd' overwrites 'a', which 'd' at line 5 uses afterwards"},
    {"InputsThatShareMemory", "def pattern(x, y):\n    x += 1\n    return x * y\n",
     "def f(a):\n    v = a.view(-1)\n    a += 1\n    c = a * v\n    return c\n",
     "2/2 'iadd' overwrites 'a', which shares memory with 'v'; in the pattern they are apart"},
    {"ViewOfAnInputOverwritten", "def pattern(x):\n    return x.transpose(0, 1)\n",
     "def f(a):\n    b = a.transpose(0, 1)\n    b += 1\n    c = a.exp()\n    return (b, c)\n",
     "1/1 results of the match share memory with what 'iadd' at line 3 overwrites and 'c' at line 4 uses"},
};
INSTANTIATE_TEST_SUITE_P(Refusals, Matches, testing::ValuesIn(kRefusals), [](const auto& c) { return c.param.name; });

const Case kInPlace[] = {
    {"SpelledAlike", "def pattern(x, y):\n    x += y\n    return x.relu()\n",
     "def f(a, b):\n    c = a.add_(b)\n    d = torch.relu(c)\n    return d\n", "x=a, y=b -> d"},
    {"FlagIsUnderscore", "def pattern(x):\n    return torch.nn.functional.relu(x, inplace=True)\n",
     "def f(a):\n    b = a.relu_()\n    return b\n", "x=a -> b"},
    {"WriteBeforeTheMatch", kExpSin, "def f(a):\n    a += 1\n    b = a.exp()\n    c = b.sin()\n    return c\n",
     "x=iadd -> c"},
    {"WriteAfterTheMatch", kExpSin, "def f(a):\n    b = a.exp()\n    c = b.sin()\n    a += 1\n    return (a, c)\n",
     "x=a -> c"},
    {"WriteElsewhereBetween", kExpSin,
     "def f(a, k):\n    b = a.exp()\n    k += 1\n    c = b.sin()\n    return (k, c)\n", "x=a -> c"},
    {"WriteThatCanComeLater", "def pattern(x, y):\n    t = x.exp()\n    return t * y.sin()\n",
     "def f(a, b):\n    c = a.exp()\n    b += 1\n    a += 1\n    d = b.sin()\n    e = c * d\n    return e\n",
     "x=a, y=iadd -> e"},
    {"ResultOverwrittenLater", kExpSin, "def f(a):\n    b = a.exp()\n    c = b.sin()\n    c += a\n    return c\n",
     "x=a -> c"},
    {"SetitemInThePattern", "def pattern(x, y):\n    t = x.clone()\n    t[0] = y\n    return t.exp()\n",
     "def f(a, b):\n    c = a.clone()\n    c[0] = b\n    d = c.exp()\n    return d\n", "x=a, y=b -> d"},
    {"SetitemAfterTheReadIsAnotherPattern", "def pattern(x, y):\n    t = x.clone()\n    t[0] = y\n    return t.exp()\n",
     "def f(a, b):\n    c = a.clone()\n    d = c.exp()\n    c[0] = b\n    return d\n",
     "3/3 'setitem' comes after 'd', but in the pattern before it, and one of them works in place"},
};
INSTANTIATE_TEST_SUITE_P(InPlace, Matches, testing::ValuesIn(kInPlace), [](const auto& c) { return c.param.name; });

const Case kBadPatterns[] = {
    {"ReturnsItsInput", "def pattern(x, y):\n    return x + y, x\n", "def f(a):\n    return a\n",
     "Pass.py:2:12: error: the pattern returns its input 'x' unchanged\nhint: return only values that the "
     "pattern computes"},
    {"ReturnsAConstant", "def pattern(x):\n    return 1\n", "def f(a):\n    return a\n",
     "Pass.py:2:12: error: the pattern returns something that is not a value it computes"},
    {"UnusedInput", "def pattern(x, y):\n    return x.exp()\n", "def f(a):\n    return a\n",
     "Pass.py:1:16: error: pattern input 'y' is not used\n"
     "hint: remove it from the pattern's parameters, or use it in what the pattern returns"},
    {"WrongKeyword", "def pattern(x):\n    return torch.nn.functional.layer_norm(x, (4,), epsilon=1e-5)\n",
     "def f(a):\n    return a\n",
     "Pass.py:2:12: error: layer_norm has no argument 'epsilon'\n"
     "hint: its arguments are: input, normalized_shape, weight, bias, eps\nnote: in the pattern"},
};
INSTANTIATE_TEST_SUITE_P(BadPatterns, Matches, testing::ValuesIn(kBadPatterns),
                         [](const auto& c) { return c.param.name; });

TEST(Strict, WantsTheSameSpelling) {
  const char* graph = "def f(a, b):\n    c = b + a\n    d = torch.relu(c)\n    return d\n";
  EXPECT_EQ(outcome("def pattern(x, y):\n    return torch.relu(x + y)\n", graph, {.strict = true}), "x=b, y=a -> d");
  EXPECT_EQ(outcome("def pattern(x, y):\n    t = x + y\n    return t.relu()\n", graph, {.strict = true}),
            "1/2 expected relu, found torch.relu; the graph has no relu at all");
}

TEST(Strict, DoesNotSwapOperandsOrTakeTuplesForLists) {
  EXPECT_EQ(outcome("def pattern(x, y):\n    return x.exp() + y\n",
                    "def f(a, b):\n    c = a.exp()\n    d = b + c\n    return d\n", {.strict = true}),
            "1/2 expected exp, found the graph's input 'b'");
  EXPECT_EQ(outcome("def pattern(x):\n    return x.mean([1, 2])\n", "def f(a):\n    b = a.mean((1, 2))\n    return b\n",
                    {.strict = true}),
            "1/1 argument '1' of mean: found (1, 2), expected [1, 2]");
}

TEST(Report, RefusedSitesStandBesideMatches) {
  ir::Graph graph =
      parse("model.py",
            "def f(a):\n    b = a.exp()\n    c = b.sin()\n    d = b.cos()\n    e = d.exp()\n    g = e.sin()\n"
            "    return (c, g)\n");
  const MatchReport report = find("def pattern(x):\n    return x.exp().sin()\n", graph);
  ASSERT_EQ(report.matches.size(), 1u);
  EXPECT_EQ(graph.node(report.matches[0].outputs[0]).name, "g");
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused[0].reason, "inner value 'b' is also used by 'd' at line 4");
  EXPECT_FALSE(report.miss);
}

TEST(Report, OverlappingSitesAreRefused) {
  ir::Graph graph = parse("model.py", "def f(a):\n    b = a.exp()\n    c = b.exp()\n    d = c.exp()\n    return d\n");
  const MatchReport report = find("def pattern(x):\n    return x.exp().exp()\n", graph);
  ASSERT_EQ(report.matches.size(), 1u);
  EXPECT_EQ(graph.node(report.matches[0].outputs[0]).name, "c");
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused[0].reason, "'c' already belongs to an earlier match");
}

TEST(Report, TwoSitesThatNeedEachOtherAreNotBothTaken) {
  ir::Graph graph = parse("model.py",
                          "def f(a, b):\n    p = a.exp()\n    q = b.exp()\n    r = q.sin()\n    s = p.sin()\n"
                          "    return (p, q, r, s)\n");
  // (p, r) needs q of the other site, and (q, s) needs p of this one.
  const MatchReport report = find("def pattern(x, y):\n    return x.exp(), y.sin()\n", graph);
  ASSERT_EQ(report.matches.size(), 1u);
  EXPECT_EQ(report.refused.size(), 1u);
  const ir::Graph rewritten = rewrite::apply(graph, sites_of(report));
  EXPECT_TRUE(ir::verify(rewritten).has_value());
}

TEST(Report, PrintsBothLines) {
  ir::Graph graph = parse("model.py",
                          "def f(a, b, c, d):\n    e = a + b\n"
                          "    g = torch.nn.functional.layer_norm(e, (768,), c, d, 1e-06)\n    return g\n");
  const MatchReport report = find(kNormed, graph);
  ASSERT_TRUE(report.miss);
  EXPECT_EQ(to_string(*report.miss),
            "nearest miss: 1 of 2 operators fit\n"
            "  reason: argument 'eps' of layer_norm: found 1e-06, expected 1e-05\n"
            "  pattern Pass.py:3:12: return torch.nn.functional.layer_norm(t, (768,), w, b, 1e-05)\n"
            "  graph model.py:3:9: g = torch.nn.functional.layer_norm(e, (768,), c, d, 1e-06)");
}

struct FitCase {
  const char* name;
  const char* graph;
  uint32_t fitting;
};
constexpr const char* kSixOperators =
    "def pattern(x, y):\n    return torch.softmax((x.exp() + y).sin() / 8.0, -1).cos()\n";

class Fitting : public testing::TestWithParam<FitCase> {};
TEST_P(Fitting, CountsWhatIsRightOnAllSidesOfWhatIsNot) {
  ir::Graph graph = parse("model.py", GetParam().graph);
  const MatchReport report = find(kSixOperators, graph);
  ASSERT_TRUE(report.miss);
  EXPECT_EQ(report.miss->fitting, GetParam().fitting) << to_string(*report.miss);
  EXPECT_EQ(report.miss->total, 6u);
}
INSTANTIATE_TEST_SUITE_P(
    Report, Fitting,
    testing::Values(
        FitCase{"OneLiteral", "def f(a, b):\n    return torch.softmax((a.exp() + b).sin() / 4.0, -1).cos()\n", 5},
        FitCase{"SwappedOperandsAndAnotherLast",
                "def f(a, b):\n    return torch.softmax((b + a.exp()).sin() / 8.0, -1).tanh()\n", 5},
        FitCase{"TwoLiterals", "def f(a, b):\n    return torch.softmax((a.exp() + b).sin() / 4.0, -2).cos()\n", 4},
        FitCase{"OnlyTheInnermost", "def f(a, b):\n    return (a.exp() + b).tanh()\n", 2},
        FitCase{
            "TheBestPlaceCounts",
            "def f(a, b):\n    c = a.exp()\n    return (c.cos(), torch.softmax((b.exp() + c).sin() / 8.0, 0).cos())\n",
            5},
        FitCase{"Nothing", "def f(a, b):\n    return a * b\n", 0}),
    [](const auto& c) { return c.param.name; });

TEST(Report, SharesAPreparedGraph) {
  ir::Graph graph = parse("model.py", "def f(a, b):\n    c = a + b\n    d = c.relu()\n    return d\n");
  PreparedGraph prepared(graph);
  for (int round = 0; round < 3; ++round) {
    auto report = find_matches(parse("Pass.py", kAddRelu), prepared);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->matches.size(), 1u);
  }
}

}  // namespace
}  // namespace passnet::rewrite
