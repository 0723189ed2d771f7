#include "pass/plan/memories.h"

#include <gmock/gmock.h>

#include "tests/fx/graph_text.h"

namespace passnet::pass {
namespace {

using testing::ElementsAre;

ir::Graph graph_of(const std::string& parameters, const std::string& body) {
  return fx::parse_text(fx::model_text(parameters, body, "import torch\nimport passnet\n")).value();
}

/// A list that takes `inputs` tensors and returns the buffers `outputs`; the buffer behind the inputs is the plan's own.
LaunchList list_of(int inputs, std::vector<uint32_t> outputs) {
  LaunchList list;
  for (int input = 0; input < inputs; ++input) list.buffers.push_back({.input = input, .type = {}, .fill = {}});
  list.buffers.push_back({});
  for (const uint32_t buffer : outputs) list.outputs.push_back({buffer, 0, {}});
  return list;
}

TEST(Memories, JoinWhatAListReturnsOfItsInputs) {
  const ir::Graph graph = graph_of("a, b",
                                   "x = passnet.fused(0, a, b)\nx0 = x[0]\ny = passnet.fused(1, x0)\ny0 = y[0]\n"
                                   "z = passnet.fused(2, y0)\nz0 = z[0]\nreturn (z0,)");
  const Memories memories(graph, {list_of(2, {1}), list_of(1, {0}), list_of(1, {1})});
  const ir::NodeId a = 0, b = 1, x = 2, x0 = 3, y0 = 5, z = 6;
  EXPECT_EQ(memories.shared(y0), memories.shared(b)) << "through two lists";
  EXPECT_NE(memories.shared(y0), memories.shared(a));
  EXPECT_NE(memories.shared(z), memories.shared(y0)) << "its result is the plan's own";
  EXPECT_EQ(memories.own(x0), memories.own(x));
  EXPECT_NE(memories.own(x0), memories.own(b));
  EXPECT_TRUE(memories.comes_from(memories.own(y0), memories.own(x)));
  EXPECT_TRUE(memories.comes_from(memories.own(y0), memories.own(b)));
  EXPECT_FALSE(memories.comes_from(memories.own(y0), memories.own(a)));
  EXPECT_FALSE(memories.comes_from(memories.own(b), memories.own(x))) << "the other way round";
}

TEST(Memories, TellInputsThatKernelsMayWrite) {
  const ir::Graph graph = graph_of("a, b, c",
                                   "v = b.view(-1)\nx = passnet.fused(0, a, v)\nx0 = x[0]\ny = passnet.fused(1, x0)\n"
                                   "y0 = y[0]\nc += y0\nreturn (y0,)");
  std::vector<LaunchList> lists{list_of(2, {1}), list_of(1, {1})};
  EXPECT_THAT(inputs_that_may_be_written(graph, lists), ElementsAre(false, false, true)) << "by an operator";
  lists[1].buffers[0].may_be_written = true;
  EXPECT_THAT(inputs_that_may_be_written(graph, lists), ElementsAre(false, true, true))
      << "what the first list returned";
  lists[0].buffers[0].may_be_written = true;
  EXPECT_THAT(inputs_that_may_be_written(graph, lists), ElementsAre(true, true, true));
}

TEST(Memories, PassOverCallsOfListsThatAreNotThere) {
  const ir::Graph graph = graph_of("a", "x = passnet.fused(1, a)\nx0 = x[0]\nreturn (x0,)");
  EXPECT_EQ(launched_list(graph, 1, 1), std::nullopt);
  EXPECT_EQ(launched_list(graph, 1, 2), 1u);
  EXPECT_EQ(launched_list(graph, 0, 2), std::nullopt) << "no call";
  EXPECT_EQ(given_value(graph, 1, list_of(1, {}).buffers[0]), 0u);
  EXPECT_EQ(given_value(graph, 1, list_of(2, {}).buffers[1]), ir::kNoNode) << "an argument that is not there";
  EXPECT_EQ(given_value(graph, 1, list_of(1, {}).buffers[1]), ir::kNoNode) << "the plan's own";
}

}  // namespace
}  // namespace passnet::pass
