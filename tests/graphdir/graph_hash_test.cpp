// The unit vectors of the public dataset's hash rule, and what a second trace changes.
#include "graphdir/graph_hash.h"

#include <gtest/gtest.h>

#include "base/hash.h"
#include "fx/graph_text.h"

namespace passnet::graphdir {
namespace {

TEST(GraphHash, OfUAELarge) {
  const ir::Graph graph =
      fx::parse("L_o_: torch.Tensor",
                "l_o_ = L_o_\ncls_token = l_o_[(slice(None, None, None), 0)]\nl_o_ = None\n"
                "output_vector = torch.cat([cls_token], 1)\ncls_token = None\nreturn (output_vector,)");
  EXPECT_EQ(hashed_text(graph, HashRule::Graph),
            "\n\n\ndef forward(self, v0 : torch.Tensor):\n    v1 = v0\n"
            "    cls_token = v1[(slice(None, None, None), 0)];  v1 = None\n"
            "    output_vector = torch.cat([cls_token], 1);  cls_token = None\n    return (output_vector,)\n    ");
  EXPECT_EQ(graph_hash(graph), "f9c87dfbc5ee70a46fe63d6d14223dc1612b23868bdf876fddc6691bd7876355");
}

TEST(GraphHash, OfNode2Vec) {
  const ir::Graph graph = fx::parse("L_w_: torch.nn.parameter.Parameter, L_batch_: torch.Tensor",
                                    "l_w_ = L_w_\nl_batch_ = L_batch_\ngetitem = l_w_[l_batch_]\nreturn (getitem,)");
  EXPECT_EQ(graph_hash(graph), "024bf75f08bc23e33ab6d4fc43c3df78d48896305faab15441dfeb2a1c22ca77");
}

TEST(GraphHash, DropsUnusedArgumentsAndWritesLiteralsAsPythonDoes) {
  const ir::Graph graph = fx::parse("a: torch.Tensor, unused: torch.SymInt, b: torch.Tensor",
                                    "r = torch.foo(a, \"it's\", 'plain', 1e-05, (1,), device(type=\"cuda\", "
                                    "index=0), mode=\"x\", value=-inf)\n"
                                    "r += b\ns = r\nunread = s.sum()\nreturn (s, b)");
  EXPECT_EQ(hashed_text(graph, HashRule::Graph),
            "\n\n\ndef forward(self, v0 : torch.Tensor, v2 : torch.Tensor):\n    v1 = v0\n    v3 = v2\n"
            "    r = torch.foo(v1, \"it's\", 'plain', 1e-05, (1,), device(type='cuda', index=0), mode = 'x', "
            "value = -inf);  v1 = None\n"
            "    r += v3;  s = r;  r = None\n    unread = s.sum();  unread = None\n    return (s, v3)\n    ");
}

TEST(GraphHash, ASecondTraceMovesNamesOn) {
  const ir::Graph graph = fx::parse("a, b",
                                    "x_1 = torch.relu(a)\nx_1 += b\nresult = x_1\nx_2 = torch.relu(result)\n"
                                    "total = x_2.sum()\nreturn (total,)");
  // `x_1 += b` is stored in x_1, which is taken: x_2; so the next one cannot be x_2.
  EXPECT_EQ(hashed_text(graph, HashRule::Retraced),
            "\n\n\ndef forward(self, v0 : torch.Tensor, v2 : torch.Tensor):\n    v1 = v0\n    v3 = v2\n"
            "    x_1 = torch.relu(v1);  v1 = None\n    x_1 += v3;  x_2 = x_1;  x_1 = v3 = None\n"
            "    x_3 = torch.relu(x_2);  x_2 = None\n    total = x_3.sum();  x_3 = None\n    return "
            "(total,)\n    ");
}

TEST(GraphHash, ASecondTraceKeepsScalarsUnderTheirOwnNames) {
  const ir::Graph graph =
      fx::parse("a, n: torch.SymInt",
                "item_3 = a.item()\nsum_2 = a.sum()\nx = a[(slice(n, None, None), item_3)]\nreturn (x, sum_2)");
  EXPECT_EQ(hashed_text(graph, HashRule::RetracedByUse),
            "\n\n\ndef forward(self, v0 : torch.Tensor, v2 : torch.Tensor):\n    v1 = v0\n    v3 = v2\n"
            "    item = v1.item()\n    sum_2 = v1.sum()\n    item_1 = v3.item();  v3 = None\n"
            "    x = v1[(slice(item_1, None, None), item)];  v1 = item_1 = item = None\n    return (x, "
            "sum_2)\n    ");
}

TEST(GraphHash, NumbersArgumentsByUse) {
  const ir::Graph graph = fx::parse("w, x", "r = torch.foo(x, w)\nreturn (r,)");
  EXPECT_EQ(hashed_text(graph, HashRule::RetracedByUse),
            "\n\n\ndef forward(self, v0 : torch.Tensor, v2 : torch.Tensor):\n    v1 = v0\n    v3 = v2\n"
            "    r = torch.foo(v1, v3);  v1 = v3 = None\n    return (r,)\n    ");
  EXPECT_NE(graph_hash(graph, HashRule::RetracedByUse), graph_hash(graph, HashRule::Graph));
}

TEST(GraphHash, SaysWhichRuleFits) {
  const std::string text = fx::model_text("w, x", "r = torch.foo(x, w)\nreturn (r,)");
  const auto graph = fx::parse_text(text);
  ASSERT_TRUE(graph);
  for (HashRule rule : {HashRule::Graph, HashRule::RetracedByUse, HashRule::OwnNames, HashRule::ModelText})
    EXPECT_EQ(find_hash_rule(*graph, graph_hash(*graph, rule)), rule) << name(rule);
  EXPECT_EQ(graph_hash(*graph, HashRule::ModelText), sha256_hex(text));
  EXPECT_EQ(hashed_text(*graph, HashRule::OwnNames),
            "\n\n\ndef forward(self, w, x):\n    r = torch.foo(x, w);  x = w = None\n    return (r,)\n    ");
  EXPECT_EQ(find_hash_rule(*graph, std::string(64, '0')), std::nullopt);
}

}  // namespace
}  // namespace passnet::graphdir
