#include <gtest/gtest.h>

#include "fx/graph_text.h"
#include "ir/ops/memory.h"

namespace passnet::ir {
namespace {

/// The arguments of forward that its body may write to.
std::string written(const std::string& body) {
  const auto graph = fx::parse_text(fx::model_text("a, b", body + "\nreturn (y,)"));
  EXPECT_TRUE(graph) << to_string(graph.error());
  if (!graph) return "?";
  std::string text;
  const std::vector<bool> inputs = inputs_that_may_be_written(*graph);
  for (NodeId id = 0; id < graph->placeholder_count(); ++id) {
    if (inputs[id]) text += graph->node(id).name;
  }
  return text;
}

TEST(WrittenInputs, AreThoseOfOperatorsThatWorkInPlace) {
  EXPECT_EQ(written("y = a + b"), "");
  EXPECT_EQ(written("y = a.add_(b)"), "a");
  EXPECT_EQ(written("v = b.view(-1)\ny = v.mul_(2)"), "b");
  EXPECT_EQ(written("v = a + b\ny = torch.nn.functional.relu(v, inplace=True)"), "");
  EXPECT_EQ(written("v = torch.nn.functional.linear(a, b)\ny = v.add_(1)"), "");
  EXPECT_EQ(written("v = b[0]\nv[1] = a\ny = v + 1"), "b");
}

TEST(WrittenInputs, AreThoseThatAnOperatorWritesBesideItsFirst) {
  EXPECT_EQ(written("y = torch.add(a, 1, out=b)"), "b");
  EXPECT_EQ(written("y = torch.nn.functional.batch_norm(a, b, b, None, None, True, 0.1, 1e-05)"), "ab");
  EXPECT_EQ(written("y = torch.nn.functional.batch_norm(a, b, b, None, None, False, 0.1, 1e-05)"), "");
  EXPECT_EQ(written("y = torch.nn.functional.embedding(a, b, None, 2.0, 2.0, False, False)"), "ab");
  EXPECT_EQ(written("y = torch.nn.functional.embedding(a, b, None, None, 2.0, False, False)"), "");
}

TEST(WrittenInputs, AreAllThatAnUnknownOperatorMayHaveMadeAViewOf) {
  EXPECT_EQ(written("v = torch.mystery(a, b)\ny = v.add_(1)"), "ab");
}

}  // namespace
}  // namespace passnet::ir
