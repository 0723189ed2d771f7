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
    {"Function", kAddRelu, "def f(a, b): c = torch.add(a, b); d = torch.relu(c); return (d,)", "x=a, y=b -> d"},
    {"Method", kAddRelu, "def f(a, b): c = a.add(b); d = c.relu(); return (d,)", "x=a, y=b -> d"},
    {"Keyword", kAddRelu,
     "def f(a, b): c = torch.add(input=a, other=b, alpha=1); d = torch.nn.functional.relu(c, False); return (d,)",
     "x=a, y=b -> d"},
    {"Aten", kAddRelu,
     "def f(a, b): c = torch.ops.aten.add.Tensor(a, b); d = torch.ops.aten.relu.default(c); return (d,)",
     "x=a, y=b -> d"},
    {"ConstantInput", kAddRelu, "def f(a): c = 1.5 + a; d = c.relu(); return (d,)", "x=a, y=1.5 -> d"},
    {"ListIsTuple", "def pattern(x): return x.mean([2, 3], keepdim=True)",
     "def f(a): b = torch.mean(a, (2, 3), True); return b", "x=a -> b"},
    {"ListIsNotTupleInAnIndex", "def pattern(x): return x[[0, 1]]", "def f(a): b = a[0, 1]; return b",
     "1/1 argument 'index' of getitem: found (0, 1), expected [0, 1]"},
    {"IntIsFloatWhereAFloatIsExpected", "def pattern(x): return torch.nn.functional.leaky_relu(x, 1)",
     "def f(a): b = torch.nn.functional.leaky_relu(a, 1.0); return b", "x=a -> b"},
    {"IntIsNotFloatInAProduct", "def pattern(x): return x * 2", "def f(a): b = a * 2.0; return b",
     "1/1 argument 'other' of mul: found 2.0, expected 2"},
    {"BoolIsNotInt", "def pattern(x): return x * True", "def f(a): b = a * 1; return b",
     "1/1 argument 'other' of mul: found 1, expected True"},
    {"VariadicPermute", "def pattern(x): return x.permute(0, 2, 1)",
     "def f(a): b = torch.permute(a, (0, 2, 1)); return b", "x=a -> b"},
    {"ParameterStandsForADtype", "def pattern(x, kind): return x.to(dtype=kind)",
     "def f(a): b = a.to(torch.float16); return b", "x=a, kind=torch.float16 -> b"},
    {"CastByDtype", "def pattern(x): return x.to(torch.float32)", "def f(a): b = a.float(); return b", "x=a -> b"},
    {"StrideOfOneInt", "def pattern(x, w): return torch.conv2d(x, w, None, 1, 1)",
     "def f(a, w): b = torch.conv2d(a, w, padding=(1, 1)); return b", "x=a, w=w -> b"},
    {"UnknownOperator", "def pattern(x): return torch.my.op(x, k=1)", "def f(a): b = torch.my.op(a, k=1); return b",
     "x=a -> b"},
    {"UnknownOperatorOtherArguments", "def pattern(x): return torch.my.op(x, k=1)",
     "def f(a): b = torch.my.op(a, j=1); return b", "0/1 torch.my.op is called with other arguments"},
};
INSTANTIATE_TEST_SUITE_P(Spellings, Matches, testing::ValuesIn(kSpellings), [](const auto& c) { return c.param.name; });

const Case kStructure[] = {
    {"SwappedOperands", "def pattern(x, y): return x.exp() * y.sin()",
     "def f(a, b): c = a.sin(); d = b.exp(); e = c * d; return e", "x=b, y=a -> e"},
    {"SwapNeedsBacktracking", "def pattern(x, y): return (x + y) + x", "def f(a, b): c = b + a; d = a + c; return d",
     "x=a, y=b -> d"},
    {"AlphaForbidsTheSwap", "def pattern(x, y): return torch.add(x.exp(), y, alpha=2)",
     "def f(a, b): c = a.exp(); d = torch.add(b, c, alpha=2); return d",
     "1/2 expected exp, found the graph's input 'b'"},
    {"SubtractionDoesNotCommute", "def pattern(x, y): return x.exp() - y",
     "def f(a, b): c = a.exp(); d = b - c; return d", "1/2 expected exp, found the graph's input 'b'"},
    {"SameInputTwice", "def pattern(x): return x * x", "def f(a, b): c = a * b; d = b * b; return (c, d)", "x=b -> d"},
    {"SameInputTwiceDiffers", "def pattern(x): return x - x", "def f(a, b): c = a - b; return c",
     "1/1 argument 'other' of sub: found the value 'b', but pattern input 'x' already stands for another "
     "value"},
    {"EveryOccurrence", kAddRelu, "def f(a, b): c = a + b; d = c.relu(); e = d + b; g = e.relu(); return g",
     "x=a, y=b -> d\nx=d, y=b -> g"},
    {"SeveralOutputs", "def pattern(x): t = x.exp(); return t.sin(), t.cos()",
     "def f(a): b = a.exp(); c = b.cos(); d = b.sin(); return (c, d)", "x=a -> d, c"},
    {"OutputUsedInside", "def pattern(x): t = x.exp(); u = t.sin(); return t, u",
     "def f(a): b = a.exp(); c = b.sin(); d = b + c; return d", "x=a -> b, c"},
    {"TupleOutputs", "def pattern(x): p = torch.var_mean(x, dim=-1); return p[0], p[1]",
     "def f(a): b = torch.var_mean(a, -1); c = b[1]; d = b[0]; return (c, d)", "x=a -> d, c"},
    {"PartsJoinedByInputsOnly", "def pattern(x): return x.sin(), x.cos()",
     "def f(a, b): c = a.sin(); d = b.cos(); e = a.cos(); return (c, d, e)", "x=a -> c, e"},
    {"PartsNotJoinedAtAll", "def pattern(x, y): return x.sin(), y.cos()",
     "def f(a, b): c = a.sin(); d = b.cos(); return (c, d)", "x=a, y=b -> c, d"},
    {"DifferentCallsAreDifferentNodes", "def pattern(x, y): return x.sin(), y.sin()", "def f(a): b = a.sin(); return b",
     "1/2 'b' would stand for two operators of the pattern"},
    {"DeadCodeOfThePattern", "def pattern(x): unused = x.sin(); return x.cos()", "def f(a): b = a.cos(); return b",
     "x=a -> b"},
    {"ListOfTensors", "def pattern(x, y): return torch.cat([x, y.exp()], 1)",
     "def f(a, b): c = b.exp(); d = torch.cat((a, c), dim=1); return d", "x=a, y=b -> d"},
    {"ListOfOtherLength", "def pattern(x, y): return torch.cat([x, y], 1)",
     "def f(a, b): c = torch.cat([a, b, a], 1); return c",
     "1/1 argument 'tensors' of cat: found 3 elements, expected 2"},
    {"ListForOneInput", "def pattern(x): return torch.cat(x, 1)", "def f(a, b): c = torch.cat([a, b], 1); return c",
     "1/1 argument 'tensors' of cat: found a list of values, but pattern input 'x' stands for one value"},
};
INSTANTIATE_TEST_SUITE_P(Structure, Matches, testing::ValuesIn(kStructure), [](const auto& c) { return c.param.name; });

constexpr const char* kNormed = R"(def pattern(x, y, w, b):
    t = x + y
    return torch.nn.functional.layer_norm(t, (768,), w, b, 1e-05)
)";

const Case kMisses[] = {
    {"Literal", kNormed,
     "def f(a, b, c, d): e = a + b; g = torch.nn.functional.layer_norm(e, (768,), c, d, 1e-06); return g",
     "2/2 argument 'eps' of layer_norm: found 1e-06, expected 1e-05"},
    {"OtherOperator", "def pattern(x): return x.exp().softmax(-1)",
     "def f(a): b = a.exp(); c = torch.nn.functional.log_softmax(b, -1); return c",
     "1/2 expected softmax, found log_softmax; the graph has no softmax at all"},
    {"OperatorNowhere", "def pattern(x): return torch.nn.functional.gelu(x)",
     "def f(a, b): c = a + b; d = c.sin(); return d", "0/1 the graph has no gelu at all; it has: add, sin"},
    {"OnlyInPlace", "def pattern(x, y): return x + y", "def f(a, b): a += b; return a",
     "0/1 the graph has no add, only add_ (in place)"},
    {"OnlyOutOfPlace", "def pattern(x, y): x += y; return x", "def f(a, b): c = a + b; return c",
     "0/1 the graph has no add_ (in place), only add, which does not work in place"},
    {"InPlaceFlag", "def pattern(x): return torch.nn.functional.relu(x, inplace=False)",
     "def f(a): b = torch.nn.functional.relu(a, inplace=True); return b",
     "1/1 argument 'inplace' of relu: found True, expected False"},
    {"ConstantForAResult", "def pattern(x, y): return x - y.exp()", "def f(a): b = a.exp(); c = b - 1; return c",
     "1/2 argument 'other' of sub: found 1, expected the result of exp"},
    {"ValueForAConstant", "def pattern(x): return x / 8.0", "def f(a, b): c = a / b; return c",
     "1/1 argument 'other' of div: found the value 'b', expected 8.0"},
    {"GraphWithoutOperators", "def pattern(x): return x.exp()", "def f(a): return a",
     "0/1 the graph has no exp at all; it has: no operators"},
};
INSTANTIATE_TEST_SUITE_P(Misses, Matches, testing::ValuesIn(kMisses), [](const auto& c) { return c.param.name; });

const Case kRefusals[] = {
    {"InnerValueUsedOutside", kExpSin, "def f(a): b = a.exp(); c = b.sin(); d = b.cos(); return (c, d)",
     "2/2 inner value 'b' is also used by 'd' at line 4"},
    {"InnerValueReturned", kExpSin, "def f(a): b = a.exp(); c = b.sin(); return (c, b)",
     "2/2 inner value 'b' is also returned by the graph at line 4"},
    {"WriteBetween", "def pattern(x, y): t = x.exp(); return t * y.sin()",
     "def f(a): c = a.exp(); a += 1; d = a.sin(); e = c * d; return e",
     "3/3 'iadd' at line 3 overwrites 'a' between the operators of the match"},
    {"UseOfTheInnerValueBetween", "def pattern(x): t = x.exp(); t += 1; return t.sin()",
     "def f(a): b = a.exp(); c = b.sum(); b += 1; d = b.sin(); return (c, d)",
     "3/3 inner value 'b' is also used by 'c' at line 3"},
    {"WriteThroughAView", "def pattern(x): t = x.exp(); return t * x",
     "def f(a): v = a.view(-1); c = a.exp(); v += 1; e = c * a; return e",
     "2/2 'iadd' at line 4 overwrites 'v' between the operators of the match"},
    {"SetitemBetween", "def pattern(x): t = x.exp(); return t * x",
     "def f(a): c = a.exp(); a[0] = 1; e = c * a; return e",
     "2/2 'setitem' at line 3 overwrites 'a' between the operators of the match"},
    {"DependsOnItself", "def pattern(x, y): t = x.exp(); return t, y.sin()",
     "def f(a): b = a.exp(); c = b.cos(); d = c.sin(); return (b, d)",
     "2/2 the replacement would depend on itself: 'c' at line 3 uses 'b' of the match, and 'd' of the match "
     "needs it"},
    {"InputInsideTheMatch", "def pattern(x, y): t = x.exp(); return t, t.sin() * y",
     "def f(a): b = a.exp(); c = b.sin(); d = c * b; return (b, d)",
     "3/3 pattern input 'y' would be 'b', which the match itself computes"},
    {"Autocast", kExpSin,
     "def f(a): b = a.exp(); m = torch.amp.autocast_mode._enter_autocast('cpu', None, False, None); c = b.sin(); "
     "return c",
     "2/2 'm' at line 3 changes how operators run, between the operators of the match"},
    {"OverwrittenInputUsedLater", "def pattern(x, y): x += y; return x.relu()",
     "def f(a, b): v = a.view(-1); a += b; c = a.relu(); d = v.sum(); return (c, d)",
     "2/2 'iadd' overwrites 'a', which 'd' at line 5 uses afterwards"},
    {"InputsThatShareMemory", "def pattern(x, y): x += 1; return x * y",
     "def f(a): v = a.view(-1); a += 1; c = a * v; return c",
     "2/2 'iadd' overwrites 'a', which shares memory with 'v'; in the pattern they are apart"},
    {"ViewOfAnInputOverwritten", "def pattern(x): return x.transpose(0, 1)",
     "def f(a): b = a.transpose(0, 1); b += 1; c = a.exp(); return (b, c)",
     "1/1 results of the match share memory with what 'iadd' at line 3 overwrites and 'c' at line 4 uses"},
    {"ViewOfOneOfTwoResultsOverwritten", "def pattern(x): return x.view(4, 4), x.transpose(0, 1)",
     "def f(a): b = a.view(4, 4); c = a.transpose(0, 1); d = torch.my.pick(b, c); e = torch.my.pick(c, b); "
     "d += 1; g = e.exp(); return (d, g)",
     "2/2 results of the match share memory with what 'iadd' at line 6 overwrites and 'g' at line 7 uses"},
};
INSTANTIATE_TEST_SUITE_P(Refusals, Matches, testing::ValuesIn(kRefusals), [](const auto& c) { return c.param.name; });

const Case kInPlace[] = {
    {"SpelledAlike", "def pattern(x, y): x += y; return x.relu()",
     "def f(a, b): c = a.add_(b); d = torch.relu(c); return d", "x=a, y=b -> d"},
    {"FlagIsUnderscore", "def pattern(x): return torch.nn.functional.relu(x, inplace=True)",
     "def f(a): b = a.relu_(); return b", "x=a -> b"},
    {"WriteBeforeTheMatch", kExpSin, "def f(a): a += 1; b = a.exp(); c = b.sin(); return c", "x=iadd -> c"},
    {"WriteAfterTheMatch", kExpSin, "def f(a): b = a.exp(); c = b.sin(); a += 1; return (a, c)", "x=a -> c"},
    {"WriteElsewhereBetween", kExpSin, "def f(a, k): b = a.exp(); k += 1; c = b.sin(); return (k, c)", "x=a -> c"},
    {"WriteThatCanComeLater", "def pattern(x, y): t = x.exp(); return t * y.sin()",
     "def f(a, b): c = a.exp(); b += 1; a += 1; d = b.sin(); e = c * d; return e", "x=a, y=iadd -> e"},
    {"ResultOverwrittenLater", kExpSin, "def f(a): b = a.exp(); c = b.sin(); c += a; return c", "x=a -> c"},
    {"SetitemInThePattern", "def pattern(x, y): t = x.clone(); t[0] = y; return t.exp()",
     "def f(a, b): c = a.clone(); c[0] = b; d = c.exp(); return d", "x=a, y=b -> d"},
    {"SetitemAfterTheReadIsAnotherPattern", "def pattern(x, y): t = x.clone(); t[0] = y; return t.exp()",
     "def f(a, b): c = a.clone(); d = c.exp(); c[0] = b; return d",
     "3/3 'setitem' comes after 'd', but in the pattern before it, and one of them works in place"},
};
INSTANTIATE_TEST_SUITE_P(InPlace, Matches, testing::ValuesIn(kInPlace), [](const auto& c) { return c.param.name; });

const Case kBadPatterns[] = {
    {"ReturnsItsInput", "def pattern(x, y): return x + y, x", "def f(a): return a",
     "Pass.py:2:12: error: the pattern returns its input 'x' unchanged\nhint: return only values that the "
     "pattern computes"},
    {"ReturnsAConstant", "def pattern(x): return 1", "def f(a): return a",
     "Pass.py:2:12: error: the pattern returns something that is not a value it computes"},
    {"UnusedInput", "def pattern(x, y): return x.exp()", "def f(a): return a",
     "Pass.py:1:16: error: pattern input 'y' is not used\n"
     "hint: remove it from the pattern's parameters, or use it in what the pattern returns"},
    {"WrongKeyword", "def pattern(x): return torch.nn.functional.layer_norm(x, (4,), epsilon=1e-5)",
     "def f(a): return a",
     "Pass.py:2:12: error: layer_norm has no argument 'epsilon'\n"
     "hint: its arguments are: input, normalized_shape, weight, bias, eps\nnote: in the pattern"},
};
INSTANTIATE_TEST_SUITE_P(BadPatterns, Matches, testing::ValuesIn(kBadPatterns),
                         [](const auto& c) { return c.param.name; });

TEST(Strict, WantsTheSameSpelling) {
  const char* graph = "def f(a, b): c = b + a; d = torch.relu(c); return d";
  EXPECT_EQ(outcome("def pattern(x, y): return torch.relu(x + y)", graph, {.strict = true}), "x=b, y=a -> d");
  EXPECT_EQ(outcome("def pattern(x, y): t = x + y; return t.relu()", graph, {.strict = true}),
            "1/2 expected relu, found torch.relu; the graph has no relu at all");
}

TEST(Strict, DoesNotSwapOperandsOrTakeTuplesForLists) {
  EXPECT_EQ(outcome("def pattern(x, y): return x.exp() + y", "def f(a, b): c = a.exp(); d = b + c; return d",
                    {.strict = true}),
            "1/2 expected exp, found the graph's input 'b'");
  EXPECT_EQ(
      outcome("def pattern(x): return x.mean([1, 2])", "def f(a): b = a.mean((1, 2)); return b", {.strict = true}),
      "1/1 argument '1' of mean: found (1, 2), expected [1, 2]");
}

TEST(Report, RefusedSitesStandBesideMatches) {
  ir::Graph graph =
      parse("model.py", "def f(a): b = a.exp(); c = b.sin(); d = b.cos(); e = d.exp(); g = e.sin(); return (c, g)");
  const MatchReport report = find("def pattern(x): return x.exp().sin()", graph);
  ASSERT_EQ(report.matches.size(), 1u);
  EXPECT_EQ(graph.node(report.matches[0].outputs[0]).name, "g");
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused[0].reason, "inner value 'b' is also used by 'd' at line 4");
  EXPECT_FALSE(report.miss);
}

TEST(Report, OverlappingSitesAreRefused) {
  ir::Graph graph = parse("model.py", "def f(a): b = a.exp(); c = b.exp(); d = c.exp(); return d");
  const MatchReport report = find("def pattern(x): return x.exp().exp()", graph);
  ASSERT_EQ(report.matches.size(), 1u);
  EXPECT_EQ(graph.node(report.matches[0].outputs[0]).name, "c");
  ASSERT_EQ(report.refused.size(), 1u);
  EXPECT_EQ(report.refused[0].reason, "'c' already belongs to an earlier match");
}

TEST(Report, TwoSitesThatNeedEachOtherAreNotBothTaken) {
  ir::Graph graph =
      parse("model.py", "def f(a, b): p = a.exp(); q = b.exp(); r = q.sin(); s = p.sin(); return (p, q, r, s)");
  // (p, r) needs q of the other site, and (q, s) needs p of this one.
  const MatchReport report = find("def pattern(x, y): return x.exp(), y.sin()", graph);
  ASSERT_EQ(report.matches.size(), 1u);
  EXPECT_EQ(report.refused.size(), 1u);
  const ir::Graph rewritten = rewrite::apply(graph, sites_of(report));
  EXPECT_TRUE(ir::verify(rewritten).has_value());
}

TEST(Report, PrintsBothLines) {
  ir::Graph graph = parse(
      "model.py", "def f(a, b, c, d): e = a + b; g = torch.nn.functional.layer_norm(e, (768,), c, d, 1e-06); return g");
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
constexpr const char* kSixOperators = "def pattern(x, y): return torch.softmax((x.exp() + y).sin() / 8.0, -1).cos()";

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
        FitCase{"OneLiteral", "def f(a, b): return torch.softmax((a.exp() + b).sin() / 4.0, -1).cos()", 5},
        FitCase{"SwappedOperandsAndAnotherLast",
                "def f(a, b): return torch.softmax((b + a.exp()).sin() / 8.0, -1).tanh()", 5},
        FitCase{"TwoLiterals", "def f(a, b): return torch.softmax((a.exp() + b).sin() / 4.0, -2).cos()", 4},
        FitCase{"OnlyTheInnermost", "def f(a, b): return (a.exp() + b).tanh()", 2},
        FitCase{"TheBestPlaceCounts",
                "def f(a, b): c = a.exp(); return (c.cos(), torch.softmax((b.exp() + c).sin() / 8.0, 0).cos())", 5},
        FitCase{"Nothing", "def f(a, b): return a * b", 0}),
    [](const auto& c) { return c.param.name; });

std::string generalized(const std::string& pattern, const std::string& graph) {
  return outcome(pattern, graph, {.generalize = true});
}

TEST(Generalize, SizesOfAPatternStandForOthers) {
  const char* pattern = "def pattern(x): return x.view(8, 48, -1).relu()";
  const char* graph = "def f(a): b = a.view(16, 80, -1); c = b.relu(); return c";
  EXPECT_EQ(outcome(pattern, graph), "2/2 argument 'size' of view: found 16, expected 8");
  EXPECT_EQ(generalized(pattern, graph), "x=a -> c");
}

TEST(Generalize, EqualNumbersStandForEqualSizes) {
  const char* pattern = "def pattern(x): return x.view(8, 8).expand(4, 8, 8)";
  EXPECT_EQ(generalized(pattern, "def f(a): b = a.view(7, 7); c = b.expand(4, 7, 7); return c"), "x=a -> c");
  EXPECT_EQ(generalized(pattern, "def f(a): b = a.view(7, 7); c = b.expand(4, 7, 6); return c"),
            "2/2 argument 'size' of expand: found 6, expected 8");
  // 1 is the batch here and broadcast there.
  EXPECT_EQ(generalized("def pattern(x): return x.view(1, 12).expand(1, 1, 12)",
                        "def f(a): b = a.view(4, 9); c = b.expand(3, 4, 9); return c"),
            "x=a -> c");
}

TEST(Generalize, OtherNumbersStandForThemselves) {
  EXPECT_EQ(generalized("def pattern(x): return x.view(-1, 4)", "def f(a): b = a.view(2, 4); return b"),
            "1/1 argument 'size' of view: found 2, expected -1");
  EXPECT_EQ(generalized("def pattern(x): return x.transpose(1, 2)", "def f(a): b = a.transpose(1, 3); return b"),
            "1/1 argument 'dim1' of transpose: found 3, expected 2");
  EXPECT_EQ(generalized("def pattern(x): return x * 8", "def f(a): b = a * 9; return b"),
            "1/1 argument 'other' of mul: found 9, expected 8");
}

TEST(Generalize, ASizeThatDidNotFitIsForgotten) {
  // The first branch binds 8 to 5 and fails; the second must not be held to it.
  EXPECT_EQ(
      generalized("def pattern(x): return x.view(8, 2).relu() + x.view(2, 8).sigmoid()",
                  "def f(a): b = a.view(5, 3); c = a.view(3, 7); d = a.view(7, 3); e = b.relu(); g = c.sigmoid(); "
                  "h = d.relu(); i = h + g; j = e + i; return j"),
      "x=a -> i");
}

TEST(Report, SharesAPreparedGraph) {
  ir::Graph graph = parse("model.py", "def f(a, b): c = a + b; d = c.relu(); return d");
  PreparedGraph prepared(graph);
  for (int round = 0; round < 3; ++round) {
    Budget steps(kMatching);
    auto report = find_matches(parse("Pass.py", kAddRelu), prepared, steps);
    ASSERT_TRUE(report.has_value());
    EXPECT_EQ(report->matches.size(), 1u);
  }
}

std::string statements(size_t count, const std::function<std::string(size_t)>& text) {
  std::string all;
  for (size_t i = 0; i < count; ++i) all += text(i);
  return all;
}

std::string function(const std::string& name, const std::string& body, const std::string& result) {
  return "def " + name + "(a):\n" + body + "    return " + result + "\n";
}

/// v0 = a.relu(), v1 = v0.relu(), …
std::string chain(const std::string& name, size_t length) {
  return function(name,
                  "    v0 = a.relu()\n" +
                      statements(length, [](size_t i) { return fmt::format("    v{} = v{}.relu()\n", i + 1, i); }),
                  fmt::format("v{}", length));
}

/// Sums of sums: 2^depth ways to order the operands.
std::string tree(const std::string& name, size_t depth, const std::string& leaf) {
  std::string body;
  for (size_t i = 0; i < (size_t{1} << depth); ++i) body += fmt::format("    v0_{} = a.{}()\n", i, leaf);
  for (size_t level = 1; level <= depth; ++level) {
    for (size_t i = 0; i < (size_t{1} << (depth - level)); ++i)
      body += fmt::format("    v{}_{} = v{}_{} + v{}_{}\n", level, i, level - 1, 2 * i, level - 1, 2 * i + 1);
  }
  return function(name, body, fmt::format("v{}_0", depth));
}

Result<MatchReport> within(const std::string& pattern, const std::string& graph_text, Budget& steps) {
  ir::Graph graph = parse("model.py", graph_text);
  PreparedGraph prepared(graph);
  return find_matches(parse("Pass.py", pattern), prepared, steps);
}

TEST(MatchLimits, AllPatternsOfAGraphShareTheirSteps) {
  ir::Graph graph = parse("model.py", chain("f", 50));
  PreparedGraph prepared(graph);
  Budget of_one(kMatching);
  ASSERT_TRUE(find_matches(parse("Pass.py", chain("pattern", 5)), prepared, of_one));
  const Work ten_times{"matching takes", 10 * of_one.spent(), "fewer calls"};
  Budget steps(ten_times);
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(find_matches(parse("Pass.py", chain("pattern", 5)), prepared, steps));
  const Result<MatchReport> report = find_matches(parse("Pass.py", chain("pattern", 5)), prepared, steps);
  ASSERT_FALSE(report);
  EXPECT_EQ(to_string(report.error()), fmt::format("Pass.py:2:10: error: matching takes more than {} steps\n"
                                                   "hint: fewer calls",
                                                   ten_times.most_steps));
}

TEST(MatchLimits, HostilePatternsEndByTheirSteps) {
  constexpr Work kSome{"matching takes", 300'000, ""};
  const std::string in_place =
      statements(3000, [](size_t i) { return fmt::format("    v{} = v{}.add_(1)\n", i + 1, i); });
  std::string other_leaf = tree("f", 6, "exp");
  other_leaf.replace(other_leaf.find(".exp"), 4, ".sin");
  const std::pair<std::string, std::string> cases[] = {
      // Operands in 2^64 orders, at each of many places.
      {tree("pattern", 6, "exp"), other_leaf},
      // Users of one value in any order.
      {function("pattern",
                statements(40, [](size_t i) { return fmt::format("    v{} = a.exp()\n", i); }) + "    r = torch.cat((" +
                    statements(40, [](size_t i) { return fmt::format("v{}, ", i); }) + "))\n    s = r.sin()\n",
                "s"),
       function("f",
                statements(3000, [](size_t i) { return fmt::format("    v{} = a.exp()\n", i); }) +
                    "    r = torch.cat((" + statements(3000, [](size_t i) { return fmt::format("v{}, ", i); }) +
                    "))\n    s = r.cos()\n",
                "s")},
      // A long chain that begins at each place.
      {chain("pattern", 1500), chain("f", 3000)},
      {function("pattern", "    v0 = a.clone()\n" + in_place, "v3000"),
       function("f", "    v0 = a.clone()\n" + in_place, "v3000")},
  };
  for (const auto& [pattern, graph] : cases) {
    Budget steps(kSome);
    const Result<MatchReport> report = within(pattern, graph, steps);
    EXPECT_TRUE(report || report.error().message == "matching takes more than 300000 steps");
    EXPECT_LT(steps.spent(), 400'000) << pattern.substr(0, 100);
  }
}

TEST(MatchLimits, LongChainsDoNotFillTheStack) {
  // The one exp at the end is looked for first, and all before it from there.
  for (const char* step : {"    v{0} = v{1}.relu()\n", "    v{0} = v{1} + v{1}\n"}) {
    std::string text;
    for (size_t i = 0; i < 20'000; ++i) text += fmt::format(fmt::runtime(step), i + 1, i);
    const auto named = [&](const char* name) {
      return function(name, "    v0 = a.relu()\n" + text + "    r = v20000.exp()\n", "r");
    };
    Budget steps(kMatching);
    const Result<MatchReport> report = within(named("pattern"), named("f"), steps);
    ASSERT_TRUE(report) << to_string(report.error());
    EXPECT_TRUE(report->matches.size() == 1 || report->miss->reason.starts_with("gave up")) << step;
  }
}

TEST(MatchLimits, AnInterruptionEndsMatching) {
  const std::atomic<bool> interrupted = true;
  Budget steps(kMatching, {.interrupted = &interrupted});
  const Result<MatchReport> report = within(chain("pattern", 3), chain("f", 5), steps);
  ASSERT_FALSE(report);
  EXPECT_EQ(report.error().failure, "interrupted");
}

TEST(MatchLimits, TextsOfADiagnosisAreCut) {
  std::string sum = "a";
  for (int i = 0; i < 1000; ++i) sum += ".sin()";
  Budget steps(kMatching);
  const auto report = within(function("pattern", "    v = " + sum + "\n", "v"), chain("f", 3), steps);
  ASSERT_TRUE(report) << to_string(report.error());
  EXPECT_LE(report->miss->pattern_text.size(), 1010u);
}

}  // namespace
}  // namespace passnet::rewrite
