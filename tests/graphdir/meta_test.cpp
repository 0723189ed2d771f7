#include "graphdir/inputs/meta.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

namespace passnet::graphdir {
namespace {

using ::testing::ElementsAre;

TensorMeta only(const std::string& text) {
  const auto records = parse_meta("weight_meta.py", text);
  if (!records) {
    ADD_FAILURE() << to_string(records.error());
    return {};
  }
  EXPECT_EQ(records->size(), 1u);
  return records->front();
}

TEST(Meta, ReadsARecord) {
  const TensorMeta meta = only(
      "class Program_weight_tensor_meta_L_x_:\n\tname = \"L_x_\"\n\toriginal_name = 'x'\n\tshape = [2, 256, "
      "4096]\n"
      "\tdtype = \"torch.float16\"\n\tdevice = \"cuda:0\"\n\tmean = -0.500\n\tstd = 0.003\n\tdata = "
      "None\n\tmin_val = 0\n\tmax_val = 1.5\n");
  EXPECT_EQ(meta.class_name, "Program_weight_tensor_meta_L_x_");
  EXPECT_EQ(meta.name, "L_x_");
  EXPECT_EQ(meta.original_name, "x");
  EXPECT_THAT(meta.shape, ElementsAre(2, 256, 4096));
  EXPECT_EQ(meta.dtype, ir::DType::Float16);
  EXPECT_EQ(meta.device, "cuda:0");
  EXPECT_TRUE(meta.has_mean);
  EXPECT_EQ(meta.mean, -0.5);
  EXPECT_EQ(meta.stddev, 0.003);
  EXPECT_FALSE(meta.int_data || meta.float_data);
  EXPECT_EQ(meta.min_value, 0.0);
  EXPECT_EQ(meta.max_value, 1.5);
  EXPECT_EQ(meta.at, (SourceLoc{"weight_meta.py", 1, 7}));
}

TEST(Meta, ReadsListsAndTuples) {
  for (const char* shape : {"[2]", "(2,)", "([2])", "(\n[\n2,\n]\n)"}) {
    const TensorMeta meta =
        only(std::string("class T:\n name = 't'\n dtype = 'torch.int64'\n data = (3, 4)\n shape = ") + shape + "\n");
    EXPECT_THAT(meta.shape, ElementsAre(2)) << shape;
    EXPECT_THAT(*meta.int_data, ElementsAre(3, 4)) << shape;
  }
  EXPECT_THAT(only("class T:\n name = 't'\n dtype = 'torch.int64'\n shape = ()\n").shape, ElementsAre());
}

TEST(Meta, ReadsEverySpellingOfNumbers) {
  const TensorMeta meta = only(
      "class T():\n    name = \"t\"\n    shape = [8]\n    dtype = \"torch.float32\"\n    std = float('nan')\n"
      "    mean = None\n    data = [1, -2.5, True, inf, -inf, float(\"inf\"), float('-inf'), nan]\n");
  ASSERT_TRUE(meta.float_data);
  const double inf = INFINITY;
  EXPECT_THAT(*meta.float_data,
              ElementsAre(1.0, -2.5, 1.0, inf, -inf, inf, -inf, ::testing::NanSensitiveDoubleEq(NAN)));
  EXPECT_TRUE(std::isnan(*meta.stddev));
  EXPECT_TRUE(meta.has_mean);
  EXPECT_FALSE(meta.mean);
}

TEST(Meta, DataFollowsTheDtypeWhateverTheOrder) {
  const TensorMeta ints = only(
      "class T:\n data = [\n  3,\n  -4,  # four\n ]\n shape = [2]\n dtype = \"torch.int64\"\n name = "
      "\"t\"\n");
  EXPECT_THAT(*ints.int_data, ElementsAre(3, -4));
  EXPECT_FALSE(ints.has_mean || ints.has_std);
  const TensorMeta bools =
      only("class T:\n name = \"t\"\n shape = [2, 1]\n dtype = \"torch.bool\"\n data = [True, False]\n");
  EXPECT_THAT(*bools.int_data, ElementsAre(1, 0));
  const TensorMeta scalar = only("class T:\n name = \"t\"\n shape = []\n dtype = \"torch.int64\"\n data = [4]\n");
  EXPECT_THAT(*scalar.int_data, ElementsAre(4));
}

TEST(Meta, EmptyTextsHoldNoRecords) {
  for (const char* text : {"", "\n\n", "# nothing\n", "\xef\xbb\xbf"}) {
    const auto records = parse_meta("input_meta.py", text);
    ASSERT_TRUE(records);
    EXPECT_TRUE(records->empty());
  }
}

TEST(Meta, PlacesAreCountedAcrossRecords) {
  const auto records =
      parse_meta("m.py",
                 "class A:\n  name = 'a'\n  shape = [1]\n  dtype = 'torch.float32'\n\n\nclass B:\n  name = "
                 "'b'\n  shape = []\n  dtype = 'torch.bool'\n");
  ASSERT_TRUE(records) << to_string(records.error());
  EXPECT_EQ((*records)[0].at.line, 1u);
  EXPECT_EQ((*records)[1].at.line, 7u);
  EXPECT_EQ((*records)[1].at.column, 7u);
}

TEST(Meta, PrintsTheLayoutOfUpstreamsWriter) {
  TensorMeta meta;
  meta.class_name = "Program_weight_tensor_meta_x";
  meta.name = "x";
  meta.original_name = "y";
  meta.shape = {2};
  meta.dtype = ir::DType::Int64;
  meta.device = "cpu";
  meta.has_mean = meta.has_std = true;
  meta.stddev = NAN;
  meta.int_data = {{1, 2}};
  meta.min_value = -3;
  meta.max_value = 7;
  EXPECT_EQ(print_meta({meta}),
            "class Program_weight_tensor_meta_x:\n    name = \"x\"\n    original_name = \"y\"\n    shape = [2]\n"
            "    dtype = \"torch.int64\"\n    device = \"cpu\"\n    mean = None\n    std = float(\"nan\")\n    "
            "data = [1, 2]\n"
            "    max_val = 7\n    min_val = -3\n");
}

}  // namespace
}  // namespace passnet::graphdir
