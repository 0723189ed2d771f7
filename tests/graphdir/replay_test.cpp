// Replay against values that NumPy 2.4 and PyTorch 2.11 gave; replay_test.py compares whole tensors with
// them.
#include "graphdir/inputs/replay.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <cstring>

#include "graphdir/inputs/numpy_random.h"

namespace passnet::graphdir {
namespace {

using ::testing::ElementsAre;
using ::testing::StartsWith;

TensorMeta record(const std::string& name, ir::DType dtype, std::vector<int64_t> shape) {
  TensorMeta meta;
  meta.class_name = "Program_weight_tensor_meta_" + name;
  meta.name = name;
  meta.dtype = dtype;
  meta.shape = std::move(shape);
  meta.has_mean = meta.has_std = true;
  meta.at = {"weight_meta.py", 1, 7};
  return meta;
}

template <class T>
std::vector<T> values(const HostTensor& tensor) {
  std::vector<T> out(tensor.bytes.size() / sizeof(T));
  std::memcpy(out.data(), tensor.bytes.data(), tensor.bytes.size());
  return out;
}

template <class T>
std::vector<T> replayed(const TensorMeta& meta) {
  const auto tensors = replay({}, {meta});
  if (!tensors) {
    ADD_FAILURE() << to_string(tensors.error());
    return {};
  }
  return values<T>(tensors->front());
}

TEST(NumpyRandom, DrawsAsNumpysLegacyGenerator) {
  NumpyRandom gauss(123);  // numpy.random.seed(123); numpy.random.randn(4)
  EXPECT_EQ(gauss.gauss(), -1.0856306033005612);
  EXPECT_EQ(gauss.gauss(), 0.9973454465835858);
  EXPECT_EQ(gauss.gauss(), 0.28297849805199204);
  EXPECT_EQ(gauss.gauss(), -1.506294713918092);
  NumpyRandom uniform(123);  // random_sample(3)
  EXPECT_EQ(uniform.uniform(), 0.6964691855978616);
  EXPECT_EQ(uniform.uniform(), 0.28613933495037946);
  EXPECT_EQ(uniform.uniform(), 0.2268514535642031);
}

// Counts below, at and over several chunks, odd and even; the draws after them show that none was lost.
TEST(NumpyRandom, DrawsManyByThreadsAsOneByOne) {
  for (const int64_t count : {0, 1, 2, 3, 8191, 20000, 100001}) {
    for (const int threads : {1, 3}) {
      NumpyRandom expected(7), random(7);
      EXPECT_EQ(random.gauss(), expected.gauss());  // one is kept
      for (int round = 0; round < 3; ++round) {
        std::vector<double> drawn(static_cast<size_t>(count));
        random.gauss(count, threads, [&](int64_t first, std::span<const double> values) {
          std::copy(values.begin(), values.end(), drawn.begin() + first);
        });
        for (const double value : drawn) ASSERT_EQ(value, expected.gauss());
        EXPECT_EQ(random.uniform(), expected.uniform());
        EXPECT_EQ(random.integer(0, 1000), expected.integer(0, 1000));
      }
    }
  }
}

TEST(Replay, DoesNotDependOnTheNumberOfThreads) {
  std::vector<TensorMeta> metas{record("a", ir::DType::Float32, {70001}),   record("b", ir::DType::Bool, {333}),
                                record("c", ir::DType::Float16, {50, 999}), record("d", ir::DType::Int64, {12345}),
                                record("e", ir::DType::Float64, {1}),       record("f", ir::DType::BFloat16, {40000})};
  metas[3].stddev = 50;
  const auto one = replay({}, metas, 5, 1), four = replay({}, metas, 5, 4);
  ASSERT_TRUE(one && four);
  for (size_t i = 0; i < metas.size(); ++i) EXPECT_EQ((*one)[i].bytes, (*four)[i].bytes) << metas[i].name;
}

TEST(NumpyRandom, KeepsTheSecondGaussOverOtherDraws) {
  NumpyRandom random(123);
  random.gauss();
  random.uniform();
  random.integer(0, 9);
  EXPECT_EQ(random.gauss(), 0.9973454465835858);
}

TEST(NumpyRandom, IntegersOfOneValueDrawNothing) {
  NumpyRandom random(123);
  EXPECT_EQ(random.integer(7, 7), 7);
  EXPECT_EQ(random.uniform(), 0.6964691855978616);
}

TEST(Replay, NoiseIsAFifthOfTheRecordedSpread) {
  TensorMeta meta = record("x", ir::DType::Float64, {2});
  meta.mean = 0.5;
  meta.stddev = 0.25;
  EXPECT_THAT(replayed<double>(meta),
              ElementsAre(-1.0856306033005612 * 0.25 * 0.2 + 0.5, 0.9973454465835858 * 0.25 * 0.2 + 0.5));
  meta.stddev.reset();
  meta.mean.reset();  // None: 0.1 and 0
  EXPECT_EQ(replayed<double>(meta)[0], -1.0856306033005612 * 0.1 * 0.2);
  meta.has_mean = meta.has_std = false;  // not written: 1 and 0
  EXPECT_EQ(replayed<double>(meta)[0], -1.0856306033005612 * 0.2);
  meta.has_std = true;
  meta.stddev = 0;
  EXPECT_THAT(replayed<double>(meta), ElementsAre(0.0, 0.0));
}

TEST(Replay, HalvesRoundByWayOfFloat) {
  TensorMeta meta = record("x", ir::DType::Float16, {1});
  meta.stddev = 0;
  // 1 + 2^-11 + 2^-40: rounded at once it would go up; float32 first gives the tie, which goes to the even 1.
  meta.mean = 1 + 0x1p-11 + 0x1p-40;
  EXPECT_THAT(replayed<uint16_t>(meta), ElementsAre(0x3c00));
  meta.mean = 0x1p-24;
  EXPECT_THAT(replayed<uint16_t>(meta), ElementsAre(0x0001));
  meta.mean = -0x1p-25;
  EXPECT_THAT(replayed<uint16_t>(meta), ElementsAre(0x8000));
  meta.dtype = ir::DType::BFloat16;
  meta.mean = 1 + 0x1p-8 + 0x1p-40;
  EXPECT_THAT(replayed<uint16_t>(meta), ElementsAre(0x3f80));
  meta.mean = 1 + 0x3p-8;
  EXPECT_THAT(replayed<uint16_t>(meta), ElementsAre(0x3f82));
}

TEST(Replay, ValuesAreClampedToBoundsThenToAHundred) {
  TensorMeta meta = record("x", ir::DType::Float32, {3});
  meta.stddev = 5;
  meta.min_value = 0;
  meta.max_value = 0.5;
  EXPECT_THAT(replayed<float>(meta), ElementsAre(0.0f, 0.5f, 0.28297849805199204 * 5 * 0.2f));
  meta.stddev = 0;
  meta.min_value.reset();
  meta.max_value.reset();
  meta.mean = 250;
  EXPECT_THAT(replayed<float>(meta), ElementsAre(100, 100, 100));
  meta.min_value = 300;
  meta.mean = 0;
  EXPECT_THAT(replayed<float>(meta), ElementsAre(100, 100, 100));
}

TEST(Replay, NonFiniteElementsAreLeftAndCounted) {
  TensorMeta meta = record("x", ir::DType::Float32, {3});
  meta.stddev = NAN;
  const auto tensors = replay({}, {meta});
  ASSERT_TRUE(tensors);
  EXPECT_EQ(tensors->front().non_finite, 3);
  EXPECT_TRUE(std::isnan(values<float>(tensors->front())[0]));
}

TEST(Replay, RecordedDataIsTakenAsItIs) {
  TensorMeta meta = record("x", ir::DType::Float32, {2});
  meta.float_data = {{1e6, -INFINITY}};
  meta.min_value = 0;
  const auto tensors = replay({}, {meta});
  ASSERT_TRUE(tensors);
  EXPECT_THAT(values<float>(tensors->front()), ElementsAre(1e6f, -INFINITY));
  EXPECT_EQ(tensors->front().non_finite, 0);
  TensorMeta bools = record("b", ir::DType::Bool, {3});
  bools.int_data = {{1, 0, 2}};
  EXPECT_THAT(replayed<uint8_t>(bools), ElementsAre(1, 0, 1));
}

TEST(Replay, IntegersAreDrawnFirstEachFileInTheOrderOfItsClassNames) {
  TensorMeta noise = record("a", ir::DType::Float64, {1}), ints = record("b", ir::DType::Int64, {3}),
             first = record("A", ir::DType::Int32, {2});
  noise.stddev = 5;
  ints.min_value = first.min_value = 0;
  ints.max_value = first.max_value = 9;
  const auto tensors = replay({ints}, {noise, first});
  ASSERT_TRUE(tensors);
  ASSERT_EQ(tensors->size(), 3u);
  NumpyRandom random(123);
  std::vector<int64_t> drawn;
  for (int i = 0; i < 5; ++i) drawn.push_back(random.integer(0, 9));
  EXPECT_THAT(drawn, ElementsAre(2, 2, 6, 1, 3));  // numpy.random.seed(123); numpy.random.randint(0, 10, 5)
  EXPECT_THAT(values<int64_t>((*tensors)[0]), ElementsAre(2, 2, 6));
  EXPECT_THAT(values<double>((*tensors)[1]), ElementsAre(random.gauss() * 5 * 0.2));
  EXPECT_THAT(values<int32_t>((*tensors)[2]), ElementsAre(1, 3));
}

TEST(Replay, UnsignedBytesAndIntegersWithoutRangeBecomeZero) {
  TensorMeta meta = record("x", ir::DType::UInt8, {3});
  EXPECT_THAT(replayed<uint8_t>(meta), ElementsAre(0, 0, 0));
}

TEST(Replay, EmptyAndScalarTensors) {
  EXPECT_TRUE(replayed<float>(record("x", ir::DType::Float32, {0, 4})).empty());
  EXPECT_EQ(replayed<float>(record("x", ir::DType::Float32, {})).size(), 1u);
}

std::string error_of(const TensorMeta& meta) {
  const auto tensors = replay({}, {meta});
  return tensors ? "no error" : to_string(tensors.error());
}

TEST(Replay, RefusesWhatNoTensorCanHold) {
  TensorMeta meta = record("x", ir::DType::Int64, {3});
  meta.min_value = 5;
  meta.max_value = 4;
  EXPECT_EQ(error_of(meta),
            "weight_meta.py:1:7: error: tensor 'x': found the range 5 to 4, expected whole numbers, the "
            "smaller one as min_val");
  meta.max_value = INFINITY;
  EXPECT_EQ(error_of(meta),
            "weight_meta.py:1:7: error: tensor 'x': found the range 5 to inf, expected whole numbers, the "
            "smaller one as min_val");
  TensorMeta data = record("x", ir::DType::Int8, {1});
  data.int_data = {{128}};
  EXPECT_EQ(error_of(data), "weight_meta.py:1:7: error: tensor 'x': data holds 128, which is no value of torch.int8");
  TensorMeta huge = record("x", ir::DType::Float32, {int64_t{1} << 46});
  EXPECT_THAT(error_of(huge), StartsWith("error: the inputs need 262144.0 GiB of memory, found "));
}

}  // namespace
}  // namespace passnet::graphdir
