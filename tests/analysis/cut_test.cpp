#include "analysis/cut.h"

#include <gtest/gtest.h>

#include <filesystem>

#include "analysis/identity.h"
#include "fx/corpus.h"
#include "fx/graph_text.h"
#include "fx/syntax/parser.h"

namespace passnet::analysis {
namespace {

// The arguments and the body of a cut of a graph of l_x_ and l_self_w_.
std::string cut_text(const std::string& body, Range range) {
  const auto whole = fx::parse_text(fx::model_text("l_x_, l_self_w_", body));
  EXPECT_TRUE(whole) << to_string(whole.error());
  const Piece piece = cut(*whole, range);
  std::string text;
  for (ir::NodeId id = 0; id < piece.graph.placeholder_count(); ++id)
    text += std::string(piece.graph.node(id).target) + " ";
  return text + "\n" + fx::dump(piece.graph);
}

const std::string kBody = "b = l_x_ + 1\na = torch.relu(b)\nc = a * l_self_w_\nd = c - b\nreturn (d, a)";

TEST(Cut, TakesWhatIsNeededAndGivesWhatIsUsed) {
  EXPECT_EQ(cut_text(kBody, {1, 3}),
            "in_0 w_0 \n"
            "tmp_0 = torch.relu(in_0)\n"
            "tmp_1 = tmp_0 * w_0\n"
            "return (tmp_0, tmp_1)\n");
  EXPECT_EQ(cut_text(kBody, {0, 1}), "in_0 \ntmp_0 = in_0 + 1\nreturn (tmp_0,)\n");
}

TEST(Cut, SortsByNameButNotTheOutputsAtTheEnd) {
  // c before b: names decide; d before a: the graph's order at its end.
  EXPECT_EQ(cut_text(kBody, {3, 4}), "in_0 in_1 \ntmp_0 = in_1 - in_0\nreturn (tmp_0,)\n");
  EXPECT_EQ(cut_text(kBody, {0, 2}), "in_0 \ntmp_0 = in_0 + 1\ntmp_1 = torch.relu(tmp_0)\nreturn (tmp_1, tmp_0)\n");
  EXPECT_EQ(cut_text(kBody, {1, 4}),
            "in_0 w_0 \n"
            "tmp_0 = torch.relu(in_0)\n"
            "tmp_1 = tmp_0 * w_0\n"
            "tmp_2 = tmp_1 - in_0\n"
            "return (tmp_0, tmp_2)\n");
}

TEST(Cut, TakesNodesThatStandApart) {
  const auto whole = fx::parse_text(fx::model_text("l_x_, l_self_w_", kBody));
  ASSERT_TRUE(whole);
  const Piece piece = cut(*whole, std::vector<ir::NodeId>{2, 4});  // b and c, without a
  EXPECT_EQ(fx::dump(piece.graph), "tmp_0 = in_0 + 1\ntmp_1 = in_1 * w_0\nreturn (tmp_0, tmp_1)\n");
  EXPECT_EQ(piece.inputs, (std::vector<ir::NodeId>{0, 1, 3}));
  EXPECT_EQ(piece.outputs, (std::vector<ir::NodeId>{2, 4}));
}

// The published subgraphs of three models whose whole graphs are at hand.
TEST(Cut, GivesThePublishedSubgraphs) {
  PASSNET_NEEDS_CORPUS();
  const struct {
    const char *whole, *piece;
    Range range;
  } kCases[] = {
      {"transformers-auto-model/Lazaro97_results", "Lazaro97_results_start12_end19_2", {12, 19}},
      {"timm/beit3_base_patch16_224.in22k_ft_in1k", "beit3_base_patch16_224.in22k_ft_in1k_start21_end23_4", {21, 23}},
      {"transformers-auto-model/hf-tiny-model-private_tiny-random-BertForSequenceClassification",
       "hf-tiny-model-private_tiny-random-BertForSequenceClassification_start5_end10_0",
       {5, 10}}};
  for (const auto& known : kCases) {
    const auto whole = fx::load_model((fx::corpus() / "graphnet" / known.whole / "model.py").string());
    const auto published = fx::load_model((fx::corpus() / "passbench" / known.piece / "model.py").string());
    ASSERT_TRUE(whole && published);
    const Piece piece = cut(*whole, known.range);
    // Published at another shape, with other names.
    EXPECT_EQ(structure_hash(piece.graph), structure_hash(*published)) << fx::dump(piece.graph) << fx::dump(published);
  }
}

}  // namespace
}  // namespace passnet::analysis
