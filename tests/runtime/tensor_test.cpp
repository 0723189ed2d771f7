// Tensors as records, bundles and statistics see them.
#include <ATen/ops/arange.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/full.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>

#include "record/verdict.h"
#include "runtime/lower/channels_last.h"
#include "runtime/tensor/compare.h"
#include "runtime/tensor/dtype.h"
#include "runtime/tensor/share.h"
#include "runtime/tensor/statistics.h"
#include "runtime/tensor/sweep_on_device.h"

namespace passnet::runtime {
namespace {

using testing::ElementsAre;
using testing::NanSensitiveDoubleEq;
using testing::NanSensitiveDoubleNear;

TEST(DTypes, OfGraphsAndOfPyTorchAreTheSame) {
  for (int i = 0; i <= static_cast<int>(ir::DType::Complex128); ++i) {
    const auto dtype = static_cast<ir::DType>(i);
    EXPECT_TRUE(has_dtype(scalar_type(dtype)));
    EXPECT_EQ(dtype_of(scalar_type(dtype)), dtype);
    EXPECT_EQ(static_cast<int64_t>(c10::elementSize(scalar_type(dtype))), ir::size_bytes(dtype));
  }
  EXPECT_FALSE(has_dtype(at::kUInt16));
  EXPECT_THROW(dtype_of(at::kUInt16), c10::Error);
}

TEST(InChannelsLast, GivesWhatContiguousDoes) {
  const std::vector<std::vector<int64_t>> shapes{{64, 128, 3, 3},  {1, 3, 200, 203}, {5, 700, 7, 5},  {256, 256, 1, 1},
                                                 {3, 1, 200, 200}, {2, 3, 4, 5},     {65536, 1, 1, 1}};
  for (const at::ScalarType dtype : {at::kFloat, at::kBFloat16, at::kInt, at::kDouble, at::kByte}) {
    for (const std::vector<int64_t>& shape : shapes) {
      const int64_t count = c10::multiply_integers(shape);
      const at::Tensor tensor = at::arange(count, at::kLong).remainder(120).to(dtype).reshape(shape);
      const at::Tensor made = in_channels_last(tensor), expected = tensor.contiguous(at::MemoryFormat::ChannelsLast);
      EXPECT_TRUE(at::equal(made, expected)) << made.sizes() << " " << dtype;
      EXPECT_EQ(made.strides(), expected.strides()) << made.sizes();
      EXPECT_EQ(made.is_alias_of(tensor), expected.is_alias_of(tensor)) << made.sizes();
    }
  }
  EXPECT_THROW(in_channels_last(at::ones({4, 4})), c10::Error);
}

TEST(TypeOf, HasShapeAndStrides) {
  const ir::TensorType type = type_of(at::zeros({2, 3}, at::kHalf).t());
  EXPECT_EQ(type.dtype, ir::DType::Float16);
  EXPECT_THAT(type.shape, ElementsAre(3, 2));
  EXPECT_THAT(type.strides, ElementsAre(1, 3));
}

TEST(ExtentBytes, GoesToTheEndOfTheLastElement) {
  EXPECT_EQ(extent_bytes({ir::DType::Float32, {4, 8}, {8, 1}}), 4 * 8 * 4);
  EXPECT_EQ(extent_bytes({ir::DType::Float32, {4, 2}, {8, 1}}), (3 * 8 + 2) * 4) << "a slice of the columns";
  EXPECT_EQ(extent_bytes({ir::DType::Float64, {3}, {0}}), 8) << "expanded";
  EXPECT_EQ(extent_bytes({ir::DType::Float32, {0, 8}, {8, 1}}), 0);
  EXPECT_EQ(extent_bytes({ir::DType::Int8, {}, {}}), 1);
}

TEST(CompareTensors, FindsEqualOnesEqualWhateverTheirStrides) {
  const at::Tensor a = at::arange(6, at::kFloat).reshape({2, 3});
  const record::OutputCheck check = compare_tensors(a.t(), a.t().contiguous());
  EXPECT_TRUE(check.equal);
  EXPECT_EQ(check.passes_from, -10);
  EXPECT_EQ(check.max_abs_diff, 0);
  EXPECT_FALSE(check.mismatch);
}

TEST(CompareTensors, TakesTypesAndShapesAsTheyAre) {
  const record::OutputCheck types = compare_tensors(at::ones({2}), at::ones({2}, at::kDouble));
  EXPECT_FALSE(types.equal);
  EXPECT_EQ(types.expected_dtype, "float32");
  EXPECT_EQ(types.found_dtype, "float64");
  EXPECT_EQ(types.passes_from, 6);
  const record::OutputCheck shapes = compare_tensors(at::ones({2, 1}), at::ones({2}));
  EXPECT_FALSE(shapes.equal);
  EXPECT_THAT(shapes.expected_shape, ElementsAre(2, 1));
  EXPECT_THAT(shapes.found_shape, ElementsAre(2));
}

TEST(CompareTensors, FindsTheFirstRungThatPasses) {
  const auto rung = [](double found, at::ScalarType type) {
    return compare_tensors(at::ones({3}, type), at::full({3}, found, type)).passes_from;
  };
  EXPECT_EQ(rung(1 + 1e-6, at::kFloat), -6) << "1e-6 and 8.65e-8 allow it, 1e-7 and 5.75e-9 do not";
  EXPECT_EQ(rung(1 + 1e-10, at::kDouble), -7) << "twice 1.58e-10 allow it, twice 6.31e-12 do not";
  EXPECT_EQ(rung(1e9, at::kFloat), 6);
  EXPECT_EQ(rung(2, at::kLong), 6) << "integers have no tolerance";
}

TEST(CompareTensors, PassesNanAndInfinitiesInPlaceAlone) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  const record::OutputCheck nans = compare_tensors(at::full({2}, nan), at::full({2}, nan));
  EXPECT_TRUE(nans.equal);
  EXPECT_EQ(nans.passes_from, -10);
  for (const double found : {0.0, inf}) {
    EXPECT_EQ(compare_tensors(at::full({2}, nan), at::full({2}, found)).passes_from, 6) << found;
    EXPECT_EQ(compare_tensors(at::full({2}, found), at::full({2}, nan)).passes_from, 6) << found;
    EXPECT_FALSE(passes(at::full({2}, nan), at::full({2}, found), 5)) << found;
  }
  EXPECT_TRUE(passes(at::full({2}, nan), at::full({2}, nan), -10));
  EXPECT_TRUE(passes(at::full({2}, -inf), at::full({2}, -inf), -10));
  EXPECT_FALSE(passes(at::full({2}, -inf), at::full({2}, inf), 5));
  EXPECT_TRUE(compare_tensors(at::full({2}, inf), at::full({2}, inf)).equal);
  EXPECT_EQ(compare_tensors(at::full({2}, 1.0), at::full({2}, inf)).passes_from, 6);
  for (const double found : {-inf, 0.0, 1e30})
    EXPECT_GT(compare_tensors(at::full({2}, inf), at::full({2}, found)).passes_from, 5) << found;
  const record::OutputCheck finite = compare_tensors(at::full({2}, 1.0), at::full({2}, inf));
  EXPECT_GT(finite.passes_from, 5);
  EXPECT_EQ(finite.mismatch->beyond, 2);
}

TEST(CompareTensors, SaysHowOutputsDiffer) {
  const at::Tensor expected = at::zeros({2, 4}), found = at::zeros({2, 4});
  found[1][2] = 0.5;
  const record::OutputCheck check = compare_tensors(expected, found);
  EXPECT_EQ(check.max_abs_diff, 0.5);
  EXPECT_EQ(check.mean_abs_diff, 0.5 / 8);
  EXPECT_EQ(check.max_rel_diff, 0) << "relative to 0 means nothing";
  ASSERT_TRUE(check.mismatch);
  EXPECT_EQ(check.mismatch->beyond, 1);
  EXPECT_EQ(check.mismatch->different, 1);
  EXPECT_THAT(check.mismatch->first, ElementsAre(1, 2));
  EXPECT_EQ(check.mismatch->expected, "0");
  EXPECT_EQ(check.mismatch->found, "0.5");
}

TEST(CompareTensors, CountsOverAllPartsOfALargeOutput) {
  const float nan = std::nanf(""), inf = std::numeric_limits<float>::infinity();
  const at::Tensor expected = at::ones({4, 50000}), found = expected.clone();
  expected[0][7] = nan;
  found[0][7] = nan;
  found[1][49999] = 3;  // in another part of the elements than the first and the last
  found[2][0] = 1.0000001f;
  found[3][49999] = inf;
  const record::OutputCheck check = compare_tensors(expected, found);
  ASSERT_TRUE(check.mismatch);
  EXPECT_EQ(check.mismatch->different, 3);
  EXPECT_EQ(check.mismatch->beyond, 2);
  EXPECT_EQ(check.mismatch->expected_nan, 1);
  EXPECT_EQ(check.mismatch->found_nan, 1);
  EXPECT_EQ(check.mismatch->found_inf, 1);
  EXPECT_THAT(check.mismatch->first, ElementsAre(1, 49999));
  EXPECT_EQ(check.mismatch->found, "3");
}

/// What compare_tensors() finds on the CPU, and the passes for a device, here on tensors of the CPU.
void expect_the_same_on_a_device(const at::Tensor& expected, const at::Tensor& found) {
  const record::OutputCheck check = compare_tensors(expected, found);
  Sweep sweep(check.expected_dtype);
  sweep_on_device(expected, found, sweep);
  SCOPED_TRACE(check.expected_dtype);
  EXPECT_EQ(sweep.equal, check.equal);
  EXPECT_TRUE(!expected.is_floating_point() || sweep.rung == check.passes_from) << sweep.rung;
  const double elements = std::max<double>(1, static_cast<double>(expected.numel()));
  EXPECT_THAT(sweep.max_abs, NanSensitiveDoubleEq(check.max_abs_diff));
  const double rounding = std::isfinite(check.max_abs_diff) ? 1e-12 * check.max_abs_diff : 0;
  EXPECT_THAT(sweep.sum_abs / elements, NanSensitiveDoubleNear(check.mean_abs_diff, rounding));
  EXPECT_THAT(sweep.max_rel, NanSensitiveDoubleEq(check.max_rel_diff));
  if (check.equal) return;
  const Counts counts = count_on_device(expected, found, record::tolerance(check.expected_dtype, record::kCorrectT));
  EXPECT_EQ(counts.different, check.mismatch->different);
  EXPECT_EQ(counts.has_beyond, check.mismatch->beyond > 0);
  EXPECT_EQ(counts.expected_nan, check.mismatch->expected_nan);
  EXPECT_EQ(counts.expected_inf, check.mismatch->expected_inf);
  EXPECT_EQ(counts.found_nan, check.mismatch->found_nan);
  EXPECT_EQ(counts.found_inf, check.mismatch->found_inf);
}

TEST(SweepOnDevice, FindsWhatIsFoundOnTheCpu) {
  const double nan = std::nan(""), inf = std::numeric_limits<double>::infinity();
  for (const at::ScalarType type :
       {at::kFloat, at::kDouble, at::kHalf, at::kBFloat16, at::kInt, at::kLong, at::kByte, at::kBool}) {
    const at::Tensor expected = at::arange(600, at::kFloat).reshape({20, 30}).to(type);
    expect_the_same_on_a_device(expected, expected);
    const at::Tensor found = expected.clone();
    found[3][4] = 0;
    expect_the_same_on_a_device(expected, found);
    if (!expected.is_floating_point()) continue;
    for (const double error : {1e-9, 1e-6, 1e-3, 0.1, 10.0})
      expect_the_same_on_a_device(expected, expected.to(at::kDouble).mul(1 + error).to(type));
    for (const double special : {nan, inf, -inf, -0.0}) {
      found[3][4] = special;
      expect_the_same_on_a_device(expected, found);
      expect_the_same_on_a_device(found, expected);
      expect_the_same_on_a_device(found, found.mul(1.0));
    }
  }
  expect_the_same_on_a_device(at::zeros({0, 3}), at::zeros({0, 3}));
}

TEST(Statistics, OfFloatsAreMeanDeviationAndFewElements) {
  const Json few = statistics_json(at::tensor({1.0f, 3.0f}));
  EXPECT_EQ(few.at("mean"), 2.0);
  EXPECT_NEAR(few.at("std").get<double>(), std::sqrt(2.0), 1e-12);
  EXPECT_EQ(few.at("data"), Json::array({1.0, 3.0}));
  const Json many = statistics_json(at::full({8, 8}, 500.0));
  EXPECT_EQ(many.at("mean"), 100.0) << "bounded as replay bounds it";
  EXPECT_EQ(many.at("std"), 0.0);
  EXPECT_FALSE(many.contains("data"));
  EXPECT_FALSE(statistics_json(at::full({2}, std::nan(""))).contains("data"));
}

TEST(Statistics, OfOthersAreElementsOrARange) {
  EXPECT_EQ(statistics_json(at::arange(3)), (Json{{"data", {0, 1, 2}}}));
  EXPECT_EQ(statistics_json(at::arange(-2, 98)), (Json{{"min", -2}, {"max", 97}}));
  EXPECT_EQ(statistics_json(at::ones({2}, at::kBool)), (Json{{"data", {1, 1}}}));
  EXPECT_EQ(statistics_json(at::ones({64}, at::kBool)), Json::object());
  EXPECT_EQ(statistics_json(at::ones({2}, at::kComplexFloat)), Json::object());
}

TEST(Share, CopiesTensorsAsTheyRead) {
  const at::Tensor matrix = at::arange(6, at::kFloat).reshape({2, 3}).t();
  const Result<SharedTensors> shared = share({"a", "none", "b"}, {matrix, at::empty({0, 2}), at::ones({}, at::kBool)});
  ASSERT_TRUE(shared) << to_string(shared.error());
  ASSERT_EQ(shared->entries.size(), 3u);
  EXPECT_EQ(shared->entries[0].name, "a");
  EXPECT_THAT(shared->entries[0].shape, ElementsAre(3, 2));
  EXPECT_EQ(shared->entries[2].offset % 64, 0);
  const int64_t size = shared->entries[2].offset + shared->entries[2].size_bytes();
  EXPECT_FALSE(wire::Mapping::map(shared->memory.get(), size, true)) << "it is sealed";
  const Result<wire::Mapping> mapping = wire::Mapping::map(shared->memory.get(), size, false);
  ASSERT_TRUE(mapping) << to_string(mapping.error());
  const std::vector<at::Tensor> views = view_shared(shared->entries, *mapping);
  EXPECT_TRUE(compare_tensors(matrix, views[0]).equal);
  EXPECT_EQ(views[1].numel(), 0);
  EXPECT_TRUE(views[2].item<bool>());
}

TEST(Share, RefusesElementTypesThatGraphsLack) {
  EXPECT_EQ(share({"x"}, {at::empty({2}, at::kUInt16)}).error().message,
            "'x' is a Strided tensor of UInt16, expected a dense one of an element type that graphs have");
}

}  // namespace
}  // namespace passnet::runtime
