#include "ir/ops/memory.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"

namespace passnet::ir {
namespace {

/// Whether the last value of a body may share memory with each argument of forward: "ab", "a", "".
std::string shared(const std::string& body) {
  const auto graph = fx::parse_text(fx::model_text("a, b", body + "\nreturn (y,)"));
  EXPECT_TRUE(graph) << to_string(graph.error());
  if (!graph) return "?";
  const std::vector<NodeId> memory = memory_of_values(*graph);
  std::string text;
  for (NodeId id = 0; id < graph->placeholder_count(); ++id) {
    if (memory[id] == memory[graph->size() - 2]) text += graph->node(id).name;
  }
  return text;
}

TEST(Memory, IsSharedByViewsAndWhatWorksInPlace) {
  EXPECT_EQ(shared("y = a + b"), "");
  EXPECT_EQ(shared("y = a.view(-1)"), "a");
  EXPECT_EQ(shared("y = a.add_(b)"), "a");
  EXPECT_EQ(shared("y = torch.nn.functional.relu(a, inplace=True)"), "a");
  EXPECT_EQ(shared("y = torch.nn.functional.relu(a, inplace=False)"), "");
  EXPECT_EQ(shared("v = a.view(-1)\nw = v.t()\ny = w[0]"), "a");
  EXPECT_EQ(shared("y = torch.functional.einsum('ij->ji', a)"), "a");
  EXPECT_EQ(shared("y = torch.functional.einsum('ij,jk->ik', a, b)"), "");
}

TEST(Memory, NamesTheValueThatIsOverwrittenOrViewed) {
  const Graph graph = fx::parse("a, b", "x = torch.relu_(input=b)\nv = x.view(-1)\ny = v.add_(a)\nreturn (y,)");
  const NodeId b = 1, x = 2, v = 3, y = 4;
  EXPECT_EQ(overwritten_input(graph, x), b);
  EXPECT_EQ(overwritten_input(graph, y), v);
  EXPECT_EQ(overwritten_input(graph, v), kNoNode);
  EXPECT_EQ(viewed_input(graph, v), x);
  EXPECT_EQ(viewed_input(graph, b), kNoNode);
  EXPECT_EQ(base_of(graph, y), b);
}

TEST(Memory, OfAnArgumentGivenByKeyword) {
  EXPECT_EQ(shared("y = torch.reshape(input=a, shape=(2, 3))"), "a");
  EXPECT_EQ(shared("y = torch.relu_(input=b)"), "b");
}

TEST(Memory, OfEveryArgumentWhereTheOperatorTakesManyOrIsUnknown) {
  EXPECT_EQ(shared("y = torch.broadcast_tensors(a, b)"), "ab");
  EXPECT_EQ(shared("y = torch.mystery(a, 2, other=b)"), "ab");
}

}  // namespace
}  // namespace passnet::ir
