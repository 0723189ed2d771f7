#include "dataset/sizes/data_symbols.h"

#include <gtest/gtest.h>

#include "dataset/sizes/variant_sizes.h"

namespace passnet::dataset {
namespace {

graphdir::GraphDir graph_with(const std::vector<std::pair<std::string, std::vector<int64_t>>>& records) {
  graphdir::GraphDir graph;
  for (const auto& [name, shape] : records) {
    graph.weights.emplace_back();
    graph.weights.back().name = name;
    graph.weights.back().shape = shape;
  }
  return graph;
}

std::string found(const std::vector<const graphdir::GraphDir*>& captures) {
  std::string text;
  for (const DataSymbol& symbol : find_symbols(captures, {})) {
    text += std::to_string(symbol.example) + (symbol.is_of_pictures ? " picture" : "");
    for (const auto& place : symbol.places)
      text += " " + std::to_string(place.record) + "." + std::to_string(place.axis);
    text += "; ";
  }
  return text;
}

TEST(DataSymbols, AreTheDistinctSizesOfDataInputsInOrder) {
  const graphdir::GraphDir graph =
      graph_with({{"L_self_modules_w_", {7, 7}}, {"L_x_", {1, 3, 224, 224}}, {"L_mask_", {1, 1, 16}}});
  EXPECT_EQ(found({&graph}), "1 1.0 2.0; 3 1.1; 224 picture 1.2 1.3; 16 2.2; ");
}

TEST(DataSymbols, OfSeveralCapturesAreWhatDiffers) {
  const graphdir::GraphDir first = graph_with({{"L_x_", {1, 3, 16, 16}}}),
                           second = graph_with({{"L_x_", {2, 3, 16, 50}}});
  EXPECT_EQ(found({&first, &second}), "1 0.0; 16 picture 0.3; ");
}

TEST(DataSymbols, ResizeShapesAndRepeatLiteralData) {
  graphdir::GraphDir graph = graph_with({{"L_ids_", {1, 3}}});
  graph.weights[0].int_data = std::vector<int64_t>{7, 8, 9};
  const std::vector<DataSymbol> symbols = find_symbols(std::vector<const graphdir::GraphDir*>{&graph}, {});
  const std::vector<int64_t> values{2, 2};
  const auto made = resized(graph.weights, symbols, values);
  EXPECT_EQ(made[0].shape, (std::vector<int64_t>{2, 2}));
  EXPECT_EQ(made[0].int_data, (std::vector<int64_t>{7, 8, 9, 7}));
  EXPECT_EQ(values_in(graph.weights, symbols, made), values);
  EXPECT_EQ(graphdir::signature(constraints_of(made, symbols, values)), "[(S0,S1)]");
}

TEST(DataSymbols, DoNotSayTheSizesOfACaptureThatBreaksThem) {
  const graphdir::GraphDir square = graph_with({{"L_x_", {1, 3, 16, 16}}}),
                           wide = graph_with({{"L_x_", {1, 3, 16, 32}}});
  const std::vector<DataSymbol> symbols = find_symbols(std::vector<const graphdir::GraphDir*>{&square}, {});
  EXPECT_FALSE(values_in(square.weights, symbols, wide.weights));
}

TEST(VariantSizes, FollowTheSignature) {
  const DataSymbol batch{1, {}, false}, length{16, {}, false}, height{224, {}, true};
  const std::vector<DataSymbol> picture{batch, height}, text{batch, length}, alone{batch};
  EXPECT_EQ(variant_sizes("[(S0,3,S1,S1)]", picture)[3], (std::vector<int64_t>{32, 224}));
  EXPECT_EQ(variant_sizes("[(S0,S1),(S0,S1)]", text)[6], (std::vector<int64_t>{1, 4096}));
  EXPECT_EQ(variant_sizes("[(S0,5,S1,S1)]", picture)[0], (std::vector<int64_t>{1, 224}));
  EXPECT_TRUE(variant_sizes("[(1,3)]", {}).empty());
  for (const char* signature : {"[(S0,)]", "[(1,3,S0,S0)]", "[(S0,3,640,640)]"})
    EXPECT_EQ(variant_sizes(signature, alone).size(), 9U);
}

}  // namespace
}  // namespace passnet::dataset
