#include "dataset/pieces/describe.h"

#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "fx/graph_text.h"

namespace passnet::dataset {
namespace {

// The last statement of "b = relu(a); c = b + L_self_w_", cut out: it takes a computed value and a weight.
class Describe : public testing::Test {
 protected:
  Describe() {
    whole_.graph = fx::parse("a, L_self_w_", "b = torch.relu(a)\nc = b + L_self_w_\nreturn (c,)");
    graphdir::TensorMeta weight;
    weight.name = "L_self_w_";
    weight.shape = {8};
    weight.stddev = 0.5;
    whole_.weights = {weight};
    piece_ = analysis::cut(whole_.graph, {1, 2});
  }
  Result<std::vector<graphdir::TensorMeta>> describe(Json value) const {
    return describe_inputs(piece_, whole_, {{"b", std::move(value)}});
  }
  std::string why(Json value) const {
    const auto metas = describe(std::move(value));
    return metas ? "no error" : metas.error().message;
  }
  graphdir::GraphDir whole_;
  analysis::Piece piece_;
};

TEST_F(Describe, KeepsRecordsOfArgumentsUnderTheirNewNames) {
  const auto metas = describe({{"dtype", "float32"}, {"shape", {4, 8}}});
  ASSERT_TRUE(metas) << to_string(metas.error());
  ASSERT_EQ(metas->size(), 2u);
  const graphdir::TensorMeta& weight = metas->at(0);  // "L_self_w_" sorts before "b"
  EXPECT_EQ(weight.name, "w_0");
  EXPECT_EQ(weight.original_name, "L_self_w_");
  EXPECT_EQ(weight.class_name, "Program_weight_tensor_meta_L_self_w_");
  EXPECT_EQ(weight.shape, std::vector<int64_t>{8});
  EXPECT_EQ(weight.stddev, 0.5);
}

TEST_F(Describe, RecordsComputedValuesAsMeasuredOrNormallyDistributed) {
  const auto assumed = describe({{"dtype", "float16"}, {"shape", {4, 8}}});
  EXPECT_EQ(assumed->at(1).name, "in_0");
  EXPECT_EQ(assumed->at(1).original_name, "b");
  EXPECT_EQ(assumed->at(1).dtype, ir::DType::Float16);
  EXPECT_EQ(assumed->at(1).mean, 0.0);
  EXPECT_EQ(assumed->at(1).stddev, 1.0);
  const auto measured =
      describe({{"dtype", "float32"}, {"shape", {2}}, {"statistics", {{"mean", 2.5}, {"std", 0.1}, {"data", {2, 3}}}}});
  EXPECT_EQ(measured->at(1).mean, 2.5);
  EXPECT_EQ(measured->at(1).stddev, 0.1);
  EXPECT_EQ(measured->at(1).float_data, (std::vector<double>{2, 3}));
  const auto range = describe({{"dtype", "int64"}, {"shape", {100}}, {"statistics", {{"min", 0}, {"max", 7}}}});
  EXPECT_EQ(range->at(1).min_value, 0.0);
  EXPECT_EQ(range->at(1).max_value, 7.0);
  const auto indices = describe({{"dtype", "int64"}, {"shape", {2}}, {"statistics", {{"data", {5, 6}}}}});
  EXPECT_EQ(indices->at(1).int_data, (std::vector<int64_t>{5, 6}));
}

TEST_F(Describe, RefusesWhatHasNoRecord) {
  EXPECT_EQ(why({{"int", 3}}), "an input is no tensor");
  EXPECT_EQ(why(Json::object()), "an input is no tensor");
  EXPECT_EQ(why({{"dtype", "quint8"}, {"shape", {2}}}), "an input is of an element type without a record");
  EXPECT_EQ(why({{"dtype", "bool"}, {"shape", {2}}}), "an input's values are not known");
}

}  // namespace
}  // namespace passnet::dataset
