#include "ir/copy.h"

#include <gtest/gtest.h>

#include "fx/graph_text.h"
#include "ir/verify.h"

namespace passnet::ir {
namespace {

Graph graph_of(const std::string& body) { return fx::parse("a, b", body); }

void copy_all(GraphCopy& copying, const Graph& graph) {
  for (NodeId id = 0; id < graph.size(); ++id) copying.copy(id);
}

TEST(GraphCopy, IsEqualWithoutChanges) {
  const Graph graph = graph_of("x = torch.cat([a, b], dim=-1)\ny = x[0:2, None]\nreturn (y,)");
  Graph made;
  GraphCopy copying(graph, made);
  copy_all(copying, graph);
  EXPECT_EQ(first_difference(graph, made), "");
}

TEST(GraphCopy, AsksForAReplacementOfContainersBeforeTheirElements) {
  const Graph graph = graph_of("x = torch.cat([a, b], dim=1)\ny = x.view([1, 2])\nreturn (y,)");
  Graph made;
  GraphCopy copying(graph, made);
  copying.replace = [](const Arg& arg) -> std::optional<Arg> {
    return arg.kind == ArgKind::Int ? std::optional(Arg::of_int(arg.integer + 6)) : std::nullopt;
  };
  copying.retarget = [](const Node& node) { return node.target == "view" ? "reshape" : node.target; };
  copy_all(copying, graph);
  EXPECT_EQ(first_difference(made, graph_of("x = torch.cat([a, b], dim=7)\ny = x.reshape([7, 8])\nreturn (y,)")), "");
  copying.replace = [](const Arg& arg) {
    return arg.kind == ArgKind::List ? std::optional(Arg::of_int(3)) : std::nullopt;
  };
  EXPECT_EQ(copying.argument(graph.args(2)[0]).integer, 3);
}

TEST(GraphCopy, TellsTheOutputFromAVariableOfThatName) {
  const Graph graph = graph_of("output = a + b\nreturn (output,)");
  Graph made;
  GraphCopy copying(graph, made);
  copy_all(copying, graph);
  EXPECT_TRUE(verify(made).has_value());
}

TEST(GraphCopy, PutsWhatStandsForAValueIntoAGraphThatHasNodes) {
  const Graph graph = graph_of("x = a + b\nreturn (x,)");
  Graph made;
  const Arg both[] = {Arg::of_node(made.add_placeholder("a", "a")), Arg::of_node(made.add_placeholder("b", "b"))};
  made.add_node(NodeKind::Operator, "*", "y", both);
  GraphCopy copying(graph, made);
  copying.stand_for(0, Arg::of_node(2));
  copying.stand_for(1, copying.add(NodeKind::CallMethod, "neg", "n", std::vector<Arg>{Arg::of_node(1)}));
  EXPECT_EQ(copying.copy(2, "z"), 4U);
  made.add_output(copying.here(2));
  EXPECT_EQ(first_difference(made, graph_of("y = a * b\nn = b.neg()\nz = y + n\nreturn z")), "");
}

}  // namespace
}  // namespace passnet::ir
