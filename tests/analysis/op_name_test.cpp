#include "analysis/op_name.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::analysis {
namespace {

using testing::ElementsAre;

TEST(OpName, IsPythonsNameOfWhatIsCalled) {
  const auto graph = fx::parse_text(fx::model_text("a, b", R"(c = a.view(1, -1)
d = torch.nn.functional.layer_norm(c, (4,))
e = torch._C._nn.gelu(d)
f = e + b
f += a
g = f
h = g[0]
i = -h
j = i / 2
k = j @ b
l = k.T
m = torch.ops.aten.index(l, [b])
n = m > 0
o = n & n
return (o,))"));
  ASSERT_TRUE(graph) << to_string(graph.error());
  EXPECT_THAT(op_names(*graph), ElementsAre("Tensor.view", "layer_norm", "gelu", "add", "iadd", "getitem", "neg",
                                            "truediv", "matmul", "getattr", "aten.index", "gt", "and_"));
  EXPECT_EQ(body_size(*graph), 13);
}

TEST(OpName, FindsWhereOperatorsFollowEachOther) {
  const auto graph = fx::parse_text(fx::model_text("a", R"(b = a + a
c = b + a
d = torch.relu(c)
e = d + a
f = torch.relu(e)
return (f,))"));
  ASSERT_TRUE(graph) << to_string(graph.error());
  const auto at = [&](std::vector<std::string> ops) { return ranges_of_ops(*graph, ops); };
  EXPECT_THAT(at({"add", "relu"}), ElementsAre(Range{1, 3}, Range{3, 5}));
  EXPECT_THAT(at({"add", "relu", "add"}), ElementsAre(Range{1, 4}));
  EXPECT_THAT(at({"relu", "relu"}), ElementsAre());
}

}  // namespace
}  // namespace passnet::analysis
