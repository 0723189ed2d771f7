#include "fx/graph_check.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "base/file.h"
#include "graph_text.h"

namespace passnet::fx {
namespace {

namespace fs = std::filesystem;

class GraphCheckTest : public ::testing::Test {
 protected:
  ~GraphCheckTest() override { fs::remove_all(root_); }
  std::string put(const std::string& name, const std::string& text) {
    EXPECT_TRUE(write_file(root_ / name / "model.py", text));
    return (root_ / name).string();
  }
  const fs::path root_ =
      fs::path(::testing::TempDir()) / ("passnet_graph_check_test_" + std::to_string(::getpid()));
};

TEST_F(GraphCheckTest, GoodAndBadGraphs) {
  const std::string good = put("good", model_text("a", "r = a + 1\nreturn (r,)"));
  const std::string bad = put("bad", model_text("a", "r = a +\nreturn (r,)"));
  const std::vector<GraphCheck> checks{check_graph(good), check_graph(bad)};
  EXPECT_TRUE(checks[0].parsed && checks[0].roundtrip && !checks[0].error);
  EXPECT_EQ(checks[0].nodes, 3u);
  EXPECT_FALSE(checks[1].parsed || checks[1].roundtrip);
  EXPECT_EQ(to_json(checks).dump(),
            R"({"graphs":2,"parsed":1,"roundtrip":1,"failed":[{"path":")" + bad + R"(","error":")" + bad +
                R"(/model.py:6:16: error: expected an expression, found the end of the line"}]})");
}

TEST_F(GraphCheckTest, FindsGraphsBelowPaths) {
  put("x/b", "");
  put("x/a", "");
  const std::string file = put("y", "") + "/model.py";
  const auto found = find_graphs({file, (root_ / "x").string()});
  ASSERT_TRUE(found);
  EXPECT_THAT(*found, ::testing::ElementsAre(file, root_ / "x/a", root_ / "x/b"));
  const std::string none = (root_ / "none").string();
  EXPECT_EQ(to_string(find_graphs({none}).error()), "error: '" + none + "' does not exist");
  fs::create_directories(root_ / "none");
  EXPECT_EQ(to_string(find_graphs({none}).error()),
            "error: found no graph at or below '" + none + "', expected directories with model.py");
}

TEST_F(GraphCheckTest, CountsOperators) {
  std::vector<ir::Graph> graphs;
  graphs.push_back(
      *parse_text(model_text("a, b", "r = torch.relu(a + b)\ns = torch.relu(r)\nt = s.T\nreturn (s, t)")));
  graphs.push_back(*parse_text(model_text("a", "r = torch.relu(a)\nreturn (r.relu(),)")));
  EXPECT_EQ(to_json(count_operators(graphs)).dump(),
            R"({"graphs":2,"nodes":11,"placeholders":3,"outputs":3,"operators":[)"
            R"({"kind":"function","target":"torch.relu","calls":3,"graphs":2},)"
            R"({"kind":"method","target":"relu","calls":1,"graphs":1},)"
            R"({"kind":"operator","target":"+","calls":1,"graphs":1},)"
            R"({"kind":"attribute","target":"T","calls":1,"graphs":1}]})");
}

}  // namespace
}  // namespace passnet::fx
