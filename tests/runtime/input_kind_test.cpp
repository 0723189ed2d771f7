// Other contents for the inputs of a graph, of tensors that are larger than what is drawn.
#include "runtime/session/inputs/input_kind.h"

#include <ATen/ops/_unique2.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include "record/input_kinds.h"
#include "runtime/session/inputs/resample.h"

namespace passnet::runtime {
namespace {

int64_t distinct(const at::Tensor& of) { return std::get<0>(at::_unique2(of)).numel(); }

constexpr int64_t kRows = 5121, kColumns = 64, kElements = kRows * kColumns;  // 5 times kPool, and some

at::Tensor of_kind(std::string_view kind) {
  graphdir::Metas metas;
  metas.inputs.resize(1);
  metas.inputs[0].name = "x";
  metas.inputs[0].dtype = ir::DType::Float32;
  metas.inputs[0].shape = {kRows, kColumns};
  metas.inputs[0].mean = 0;
  metas.inputs[0].stddev = 1;
  const at::Tensor made = at::empty({kRows, kColumns});
  const auto applied = apply_input_kind(kind, metas, {made}, 7);
  EXPECT_TRUE(applied) << applied.error().message;
  return made.view(-1);
}

/// The largest share of elements that stand again some way behind.
double repeated(const at::Tensor& of) {
  double most = 0;
  for (const int64_t distance : {int64_t{1}, kPool - 15, kPool, 2 * kPool, 4 * kPool - 5}) {
    const int64_t count = of.numel() - distance;
    most =
        std::max(most, of.narrow(0, 0, count).eq(of.narrow(0, distance, count)).to(at::kDouble).mean().item<double>());
  }
  return most;
}

TEST(InputKind, LargeTensorsDoNotShowThatFewNumbersWereDrawn) {
  for (const char* kind : {"normal", "uniform", "shifted", "wide", "spikes"}) {
    const at::Tensor made = of_kind(kind);
    EXPECT_GT(distinct(made), kElements * 95 / 100) << kind;
    EXPECT_LT(repeated(made), 0.001) << kind;
  }
  EXPECT_LT(repeated(of_kind("binary")), 0.51);
  EXPECT_EQ(distinct(of_kind("binary")), 2);
}

TEST(InputKind, NumbersThatAreMadeAreLikeThoseThatWereDrawn) {
  const at::Tensor made = of_kind("normal");
  const at::Tensor drawn = made.narrow(0, 0, kPool), others = made.narrow(0, kPool, kElements - kPool);
  EXPECT_NEAR(others.mean().item<double>(), drawn.mean().item<double>(), 0.02);
  EXPECT_NEAR(others.std().item<double>(), drawn.std().item<double>(), 0.03);
  EXPECT_LE(others.abs().max().item<float>(), drawn.abs().max().item<float>());
}

TEST(InputKind, NanAndInfinitiesAreFewEverywhere) {
  const at::Tensor nan = of_kind(record::kNanKind).isnan(), infinite = of_kind(record::kInfiniteKind).isinf();
  EXPECT_GE(nan.sum().item<int64_t>(), kElements / kPool);
  EXPECT_LE(nan.sum().item<int64_t>(), kElements / kPool + 1);
  EXPECT_LE(infinite.sum().item<int64_t>(), 2 * (kElements / kPool + 1));
  EXPECT_GE(infinite.sum().item<int64_t>(), 2);
}

TEST(Resample, OperatorsOfPyTorchChooseTheSameNumbers) {
  const at::Tensor pool = at::randn({kPool});
  for (const Chosen chosen : {Chosen::Varied, Chosen::Unchanged}) {
    const at::Tensor made = resample(pool, 100'000, 200'000, 12345, chosen);
    EXPECT_TRUE(made.equal(resample_by_operators(pool, 100'000, 200'000, 12345, chosen)));
    EXPECT_FALSE(made.equal(resample(pool, 100'000, 200'000, 12346, chosen)));
    EXPECT_TRUE(made.narrow(0, 5000, 100).equal(resample(pool, 105'000, 100, 12345, chosen)));
  }
}

}  // namespace
}  // namespace passnet::runtime
