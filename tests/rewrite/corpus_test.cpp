// The matcher on the real graphs of the corpus; skipped where they are absent.
#include "tests/fx/corpus.h"

#include <filesystem>

#include "ir/ops/table.h"
#include "tests/rewrite/text.h"

namespace passnet::rewrite {
namespace {

namespace fs = std::filesystem;
using ir::NodeId;

class Corpus : public testing::Test {
 protected:
  void SetUp() override {
    PASSNET_NEEDS_CORPUS();
    for (const auto& entry : fs::recursive_directory_iterator(fx::corpus())) {
      if (entry.path().filename() == "model.py") paths_.push_back(entry.path());
    }
    std::sort(paths_.begin(), paths_.end());
    ASSERT_FALSE(paths_.empty());
  }

  /// Calls `check` with every graph.
  template <class Check>
  void for_each(Check check) {
    for (const fs::path& path : paths_) {
      auto graph = fx::load_model(path.string());
      ASSERT_TRUE(graph.has_value()) << to_string(graph.error());
      SCOPED_TRACE(path.string());
      check(*graph);
    }
  }

  std::vector<fs::path> paths_;
};

/// Sums that feed nothing but a layer_norm, found without the matcher.
size_t count_add_layer_norm(const ir::Graph& graph) {
  const auto users = ir::users(graph);
  size_t count = 0;
  for (const ir::Node& node : graph.nodes()) {
    if (node.target != "torch.nn.functional.layer_norm") continue;
    const NodeId input = graph.args(node)[0].node;
    count +=
        graph.node(input).kind == ir::NodeKind::Operator && graph.node(input).target == "+" && users[input].size() == 1;
  }
  return count;
}

TEST_F(Corpus, AddLayerNormIsFoundWhereverItStands) {
  const ir::Graph pattern = parse("Pass.py",
                                  "def pattern(x, y, shape, w, b, eps):\n    t = x + y\n"
                                  "    return torch.nn.functional.layer_norm(t, shape, w, b, eps)\n");
  size_t graphs = 0, sites = 0;
  for_each([&](ir::Graph& graph) {
    const size_t expected = count_add_layer_norm(graph);
    auto report = find_matches(pattern, graph);
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    EXPECT_EQ(report->matches.size(), expected);
    EXPECT_EQ(report->miss.has_value(), report->matches.empty());
    const ir::Graph rewritten = rewrite::apply(graph, sites_of(*report));
    const auto legal = ir::verify(rewritten);
    EXPECT_TRUE(legal.has_value()) << to_string(legal.error());
    graphs += expected > 0;
    sites += expected;
  });
  EXPECT_GT(graphs, 3u);
  RecordProperty("sites", static_cast<int>(sites));
}

TEST_F(Corpus, EveryCallIsCanonical) {
  size_t calls = 0, unknown = 0;
  for_each([&](ir::Graph& graph) {
    for (NodeId id = graph.placeholder_count(); id < graph.output(); ++id) {
      auto call = ir::canonicalize(graph, id);
      EXPECT_TRUE(call.has_value()) << to_string(call.error());
      ++calls;
      unknown += call && !call->signature;
    }
  });
  EXPECT_EQ(unknown, 0u) << "of " << calls << " calls";
}

/// A graph is a pattern of itself when it returns only what it computes and uses all of its inputs.
bool is_pattern(const ir::Graph& graph) {
  bool usable = true;
  ir::for_each_node(graph, graph.args(graph.output())[0],
                    [&](NodeId id) { usable = usable && id >= graph.placeholder_count(); });
  const auto last = ir::last_uses(graph);
  for (NodeId id = 0; id < graph.output(); ++id) usable = usable && last[id] != ir::kNoNode;
  return usable && graph.placeholder_count() + 1 < graph.size();
}

TEST_F(Corpus, EveryGraphMatchesItself) {
  size_t matched = 0;
  for_each([&](ir::Graph& graph) {
    if (!is_pattern(graph)) return;
    auto report = find_matches(graph, graph);
    ASSERT_TRUE(report.has_value()) << to_string(report.error());
    ASSERT_EQ(report->matches.size(), 1u) << (report->miss ? to_string(*report->miss) : "");
    EXPECT_EQ(body(rewrite::apply(graph, sites_of(*report))).substr(0, 23), "fused = passnet.fused(0");
    ++matched;
  });
  EXPECT_GT(matched, 40u);
}

}  // namespace
}  // namespace passnet::rewrite
