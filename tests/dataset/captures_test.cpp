#include "dataset/captures.h"

#include <gmock/gmock.h>

#include "dataset/tree_fixture.h"

namespace passnet::dataset {
namespace {

using testing::ElementsAre;

class Captures : public TreeTest {
 protected:
  void write_capture(const std::string& path, const std::string& shape) const {
    write_graph(path, kRelu);
    write(path + "/graph_net.json", fmt::format("{{\"shape\": \"{}\"}}", shape));
  }
  std::string at(const std::string& path) const { return (root / path).string(); }
};

TEST_F(Captures, AreFoundRootByRootByPath) {
  write_graph("y/b", kRelu);
  write_graph("y/a", kRelu);
  write_graph("x/c", kRelu);
  const auto graphs = find_graphs({at("y"), at("x")});
  ASSERT_TRUE(graphs) << to_string(graphs.error());
  ASSERT_EQ(graphs->size(), 3u);
  EXPECT_EQ(graphs->at(0).name, "a");
  EXPECT_EQ(graphs->at(1).path, root / "y/b");
  EXPECT_EQ(graphs->at(2).name, "c");
  EXPECT_EQ(graphs->at(2).root, at("x"));
}

TEST_F(Captures, OfARootThatIsNotThereAreAnError) {
  EXPECT_EQ(to_string(find_graphs({at("none")}).error()),
            "error: '" + at("none") +
                "' does not exist\nhint: give directories with graphs: passnet dataset capture makes some");
  std::filesystem::create_directories(root / "empty");
  EXPECT_EQ(to_string(find_graphs({at("empty")}).error()),
            "error: no graph (model.py) at or below '" + at("empty") + "'");
}

TEST_F(Captures, OfOneModelDifferInTheirShapeAlone) {
  write_capture("x/toy/b1_r32/subgraph_0", "b1_r32");
  write_capture("x/toy/b1_r32/subgraph_1", "b1_r32");
  write_capture("x/toy/b2_r64/subgraph_0", "b2_r64");
  write_graph("x/without_shape", kRelu);
  const auto models = find_models({at("x")});
  ASSERT_TRUE(models) << to_string(models.error());
  ASSERT_EQ(models->size(), 3u);
  EXPECT_THAT(models->at(0).names, ElementsAre("toy/b1_r32/subgraph_0", "toy/b2_r64/subgraph_0"));
  EXPECT_THAT(models->at(0).paths, ElementsAre(root / "x/toy/b1_r32/subgraph_0", root / "x/toy/b2_r64/subgraph_0"));
  EXPECT_THAT(models->at(1).names, ElementsAre("toy/b1_r32/subgraph_1"));
  EXPECT_THAT(models->at(2).names, ElementsAre("without_shape"));
}

TEST_F(Captures, OfOneNameInTwoRootsAreRefused) {
  write_graph("x/a", kRelu);
  write_graph("y/a", kTanh);
  EXPECT_EQ(to_string(find_models({at("x"), at("y")}).error()),
            "error: 'a' is in '" + at("x") + "' and in '" + at("y") +
                "'\nhint: give a directory above both, so that their paths differ");
}

TEST(WithShape, ReplacesTheFirstPartThatIsTheShape) {
  EXPECT_EQ(with_shape("toy/b4_r32/subgraph_0", "b4_r32", "OTHER"), "toy/OTHER/subgraph_0");
  EXPECT_EQ(with_shape("b4/b4", "b4", "x"), "x/b4");
  EXPECT_EQ(with_shape("toy/b4_r32x", "b4_r32", "OTHER"), "toy/b4_r32x/OTHER");
  EXPECT_EQ(with_shape("toy", "", "OTHER"), "toy/OTHER");
}

TEST(ShapeName, HasTheNewSizesInPlaceOfTheCapturedOnes) {
  const std::vector<DataSymbol> symbols{{1, {}, false}, {224, {}, true}};
  const std::vector<int64_t> values{2, 256};
  EXPECT_EQ(shape_name("b1_r224", symbols, values), "b2_r256");
  EXPECT_EQ(shape_name("b1_r224_v11", symbols, values), "b2_r256_v11");
  EXPECT_EQ(shape_name("b1_s16", symbols, values), "s0_2_s1_256");
  EXPECT_EQ(shape_name("", symbols, values), "s0_2_s1_256");
}

}  // namespace
}  // namespace passnet::dataset
