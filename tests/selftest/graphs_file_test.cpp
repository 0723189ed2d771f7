#include "selftest/graphs_file.h"

#include <gmock/gmock.h>

#include <string>

namespace passnet::selftest {
namespace {

std::string graphs_problem(const std::string& text) {
  const auto graphs = parse_graphs(text, "graphs.txt");
  return graphs ? "accepted" : to_string(graphs.error());
}

TEST(GraphsFile, GivesTheFilesOfAGraph) {
  const auto graphs = parse_graphs(
      "# A comment.\n"
      "graph pick\n"
      "input x float16 [8, 4] mean=0.5 std=1.0\n"
      "input index int64 [3] min_val=0 max_val=7\n"
      "forward\n"
      "| tmp_0 = torch.nn.functional.embedding(index, x)\n"
      "| return (tmp_0,)\n"
      "\n"
      "graph again\n"
      "model pick\n"
      "forward\n"
      "| return ()\n",
      "graphs.txt");
  ASSERT_TRUE(graphs) << to_string(graphs.error());
  ASSERT_EQ(graphs->size(), 2U);
  const GraphText& pick = graphs->front();
  EXPECT_EQ(pick.name, "pick");
  ASSERT_EQ(pick.files.size(), 4U);
  EXPECT_EQ(pick.files[0].name, "model.py");
  EXPECT_EQ(pick.files[0].text,
            "import torch\n\n\nclass GraphModule(torch.nn.Module):\n    def forward(self, x, index):\n"
            "        tmp_0 = torch.nn.functional.embedding(index, x)\n        return (tmp_0,)\n");
  EXPECT_EQ(pick.files[1].name, "weight_meta.py");
  EXPECT_EQ(
      pick.files[1].text,
      "class Program_weight_tensor_meta_x:\n    name = \"x\"\n    shape = [8, 4]\n    dtype = \"torch.float16\"\n"
      "    device = \"cpu\"\n    mean = 0.5\n    std = 1.0\n\n\n"
      "class Program_weight_tensor_meta_index:\n    name = \"index\"\n    shape = [3]\n    dtype = \"torch.int64\"\n"
      "    device = \"cpu\"\n    min_val = 0\n    max_val = 7\n");
  EXPECT_EQ(pick.files[2].name, "input_meta.py");
  EXPECT_EQ(pick.files[2].text, "");
  EXPECT_EQ(pick.files[3].name, "graph_net.json");
  EXPECT_EQ(graphs->back().files[3].text,
            "{\n    \"framework\": \"torch\",\n    \"num_devices_required\": 1,\n    \"num_nodes_required\": 1,\n"
            "    \"dynamic\": false,\n    \"model_name\": \"pick\"\n}\n");
}

TEST(GraphsFile, NamesBadInput) {
  EXPECT_EQ(graphs_problem("input x float32 [1]\n"),
            "graphs.txt:1:1: error: expected 'graph NAME', found the field 'input'");
  EXPECT_EQ(graphs_problem("graph ../a\n"), "graphs.txt:1:7: error: field 'graph': expected a name, found '../a'");
  EXPECT_EQ(graphs_problem("graph a\nforward\n| x\ngraph a\n"),
            "graphs.txt:4:1: error: graph 'a' stands here again, first on line 1");
  EXPECT_EQ(graphs_problem("graph a\noutput x\n"),
            "graphs.txt:2:1: error: unknown field 'output', expected 'graph', 'input', 'forward' or 'model'");
  EXPECT_EQ(graphs_problem("graph a\ninput x [1]\n"),
            "graphs.txt:2:7: error: field 'input': expected NAME DTYPE [SIZES] and words KEY=VALUE, found 'x [1]'");
  EXPECT_EQ(graphs_problem("graph a\ninput x float32 [1] mean\n"),
            "graphs.txt:2:7: error: field 'input': expected KEY=VALUE, found 'mean'");
  EXPECT_EQ(graphs_problem("graph a\nforward\n"),
            "graphs.txt:2:1: error: field 'forward' has no text, expected lines below it that begin with '|'");
  EXPECT_EQ(graphs_problem("graph a\n"), "graphs.txt:1:1: error: graph 'a' has no field 'forward'");
}

}  // namespace
}  // namespace passnet::selftest
