// What a rewritten graph looks like: order, names, several sites and outputs, dead code.
#include "rewrite/rewrite.h"

#include "ir/ops/table.h"
#include "tests/rewrite/text.h"

namespace passnet::rewrite {
namespace {

class Rewrites : public testing::TestWithParam<Case> {};

TEST_P(Rewrites, AsExpected) {
  const Case& c = GetParam();
  ir::Graph graph = parse("model.py", c.graph);
  const MatchReport report = find(c.pattern, graph);
  const ir::Graph rewritten = rewrite::apply(graph, sites_of(report));
  EXPECT_EQ(body(rewritten), c.expected) << "pattern:\n" << c.pattern << "\ngraph:\n" << c.graph;
  const auto legal = ir::verify(rewritten);
  EXPECT_TRUE(legal.has_value()) << to_string(legal.error());
}

const Case kCases[] = {
    {"OneSite", kExpSin, "def f(a): b = a.exp(); c = b.sin(); d = c + a; return (d,)",
     "fused = passnet.fused(0, a)\nc = fused[0]\nd = c + a\nreturn (d,)\n"},
    {"NothingMatches", kExpSin, "def f(a): b = a.exp(); return (b,)", "b = a.exp()\nreturn (b,)\n"},
    {"ReturnedValueKeepsItsName", kExpSin, "def f(a): b = a.exp(); c = b.sin(); return c",
     "fused = passnet.fused(0, a)\nc = fused[0]\nreturn c\n"},
    {"TwoSites", kExpSin, "def f(a): b = a.exp(); c = b.sin(); d = c.exp(); e = d.sin(); return e",
     "fused = passnet.fused(0, a)\nc = fused[0]\nfused_1 = passnet.fused(1, c)\ne = fused_1[0]\nreturn e\n"},
    {"NameTaken", kExpSin, "def f(fused): b = fused.exp(); c = b.sin(); return c",
     "fused_1 = passnet.fused(0, fused)\nc = fused_1[0]\nreturn c\n"},
    {"SeveralOutputsInPatternOrder", "def pattern(x): t = x.exp(); return t.sin(), t",
     "def f(a): b = a.exp(); c = b + 1; d = b.sin(); return (c, d)",
     "fused = passnet.fused(0, a)\nd = fused[0]\nb = fused[1]\nc = b + 1\nreturn (c, d)\n"},
    {"UserBeforeTheLastInputMovesDown", "def pattern(x, y): t = x.exp(); return t, t * y",
     "def f(a, k): b = a.exp(); c = b.cos(); y = k.sqrt(); d = b * y; return (c, d)",
     "y = k.sqrt()\nfused = passnet.fused(0, a, y)\nb = fused[0]\nd = fused[1]\nc = b.cos()\nreturn (c, "
     "d)\n"},
    {"StaysBeforeALaterWrite", "def pattern(x, y): t = x.exp(); return t * y.sin()",
     "def f(a, b): c = a.exp(); a += 1; d = b.sin(); e = c * d; return (a, e)",
     "fused = passnet.fused(0, a, b)\ne = fused[0]\na += 1; iadd = a\nreturn (iadd, e)\n"},
    {"InPlaceResultBecomesAValue", "def pattern(x, y): x += y; return x.relu()",
     "def f(a, b): a += b; c = a.relu(); return c", "fused = passnet.fused(0, a, b)\nc = fused[0]\nreturn c\n"},
    {"UnusedOutputIsNotTaken", "def pattern(x): t = x.exp(); return t.sin(), t.cos()",
     "def f(a): b = a.exp(); c = b.sin(); d = b.cos(); return d",
     "fused = passnet.fused(0, a)\nd = fused[1]\nreturn d\n"},
    {"KeywordsAndNestedArguments", kExpSin,
     "def f(a): b = a.exp(); c = b.sin(); d = torch.cat([c, a], dim=1); e = d[slice(None, 2, None), 0]; return e",
     "fused = passnet.fused(0, a)\nc = fused[0]\nd = torch.cat([c, a], dim = 1)\ne = d[(slice(None, 2, "
     "None), 0)]\nreturn e\n"},
};
INSTANTIATE_TEST_SUITE_P(Cases, Rewrites, testing::ValuesIn(kCases), [](const auto& c) { return c.param.name; });

TEST(Rewrite, RemovesValuesThatOnlyTheSiteUsed) {
  ir::Graph graph =
      parse("model.py", "def f(a, k): s = k.sqrt(); y = s + 1; n = torch.rand(3); b = a * y; c = b * n; return c");
  const MatchReport report = find("def pattern(x, y, n): return x * y * n", graph);
  std::vector<Site> sites = sites_of(report);
  ASSERT_EQ(sites.size(), 1u);
  sites[0].inputs.resize(1);  // the kernels need `a` alone
  const ir::Graph rewritten = rewrite::apply(graph, sites);
  // Random numbers stay: those drawn later would be others.
  EXPECT_EQ(body(rewritten), "n = torch.rand(3)\nfused = passnet.fused(0, a)\nc = fused[0]\nreturn c\n");
}

TEST(Rewrite, KeepsDeadCodeThatWasThereBefore) {
  ir::Graph graph = parse("model.py", "def f(a): z = a.cos(); b = a.exp(); c = b.sin(); return c");
  const ir::Graph rewritten = rewrite::apply(graph, sites_of(find(kExpSin, graph)));
  EXPECT_EQ(body(rewritten), "z = a.cos()\nfused = passnet.fused(0, a)\nc = fused[0]\nreturn c\n");
}

TEST(Rewrite, MapsOldNodesToNewOnes) {
  ir::Graph graph = parse("model.py", "def f(a): b = a.exp(); c = b.sin(); d = c + a; return d");
  std::vector<ir::NodeId> map;
  const ir::Graph rewritten = rewrite::apply(graph, sites_of(find(kExpSin, graph)), &map);
  ASSERT_EQ(map.size(), graph.size());
  EXPECT_EQ(map[1], ir::kNoNode);  // b
  for (const ir::NodeId id : {0u, 2u, 3u, 4u}) EXPECT_EQ(rewritten.node(map[id]).name, graph.node(id).name);
}

TEST(Rewrite, FusedCallsAreKnownOperators) {
  ir::Graph graph = parse("model.py", "def f(a): b = a.exp(); c = b.sin(); return c");
  ir::Graph rewritten = rewrite::apply(graph, sites_of(find(kExpSin, graph)));
  EXPECT_EQ(ir::canonical_name(rewritten.node(1)), "passnet.fused");
  EXPECT_TRUE(ir::canonicalize(rewritten, 1).has_value());
}

TEST(Rewrite, CanBeAppliedAgain) {
  ir::Graph graph = parse("model.py", "def f(a): b = a.exp(); c = b.sin(); d = c.cos(); e = d.tan(); return e");
  ir::Graph once = rewrite::apply(graph, sites_of(find(kExpSin, graph)));
  const ir::Graph twice = rewrite::apply(once, sites_of(find("def pattern(x): return x.cos().tan()", once)));
  EXPECT_EQ(body(twice),
            "fused = passnet.fused(0, a)\nc = fused[0]\nfused_1 = passnet.fused(0, c)\ne = fused_1[0]\nreturn e\n");
  EXPECT_TRUE(ir::verify(twice).has_value());
}

}  // namespace
}  // namespace passnet::rewrite
