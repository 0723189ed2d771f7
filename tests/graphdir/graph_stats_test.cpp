#include "graphdir/graph_stats.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fx/graph_text.h"

namespace passnet::graphdir {
namespace {

GraphStats two_graphs() {
  GraphStats stats;
  stats.add(GraphStats(
      *fx::parse_text(fx::model_text("a, b", "r = torch.relu(a + b)\ns = torch.relu(r)\nt = s.T\nreturn (s, t)"))));
  stats.add(GraphStats(*fx::parse_text(fx::model_text("a", "r = torch.relu(a)\nreturn (r.relu(),)"))));
  return stats;
}

TEST(GraphStats, CountsOperators) {
  EXPECT_EQ(to_json(two_graphs()).dump(),
            R"({"graphs":2,"nodes":11,"placeholders":3,"outputs":3,"calls":6,)"
            R"("kinds":{"function":3,"method":1,"operator":1,"attribute":1},"operators":[)"
            R"({"kind":"function","target":"torch.relu","calls":3,"share":0.5,"graphs":2},)"
            R"({"kind":"method","target":"relu","calls":1,"share":0.16666666666666666,"graphs":1},)"
            R"({"kind":"operator","target":"+","calls":1,"share":0.16666666666666666,"graphs":1},)"
            R"({"kind":"attribute","target":"T","calls":1,"share":0.16666666666666666,"graphs":1}]})");
}

TEST(GraphStats, DrawsAHistogram) {
  EXPECT_EQ(render_stats(two_graphs()),
            "2 graphs, 11 nodes, 3 placeholders, 3 outputs, 6 calls of 4 operators\n\n"
            "    calls   share                         graphs  operator\n"
            "        3   50.0%  ####################        2  function torch.relu\n"
            "        1   16.7%  #######                     1  method relu\n"
            "        1   16.7%  #######                     1  operator +\n"
            "        1   16.7%  #######                     1  attribute T\n\n"
            "        3   50.0%  functions\n        1   16.7%  methods\n        1   16.7%  operators\n"
            "        1   16.7%  attributes\n");
}

TEST(GraphStats, OfNothing) {
  EXPECT_THAT(render_stats({}),
              ::testing::StartsWith("0 graphs, 0 nodes, 0 placeholders, 0 outputs, 0 calls of 0 operators"));
}

}  // namespace
}  // namespace passnet::graphdir
