// Error budgets against float64, and rows that stand for large tensors.
#include "runtime/tensor/errors.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/ones_like.h>
#include <ATen/ops/randn.h>
#include <ATen/ops/zeros_like.h>
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <vector>

#include "runtime/tensor/compare.h"
#include "runtime/tensor/rows.h"

namespace passnet::runtime {
namespace {

constexpr double kInfinity = std::numeric_limits<double>::infinity();

at::Tensor exact_values(double scale = 1) {
  return at::randn({64, 256}, at::detail::createCPUGenerator(7), at::TensorOptions(at::kDouble)).mul_(scale);
}

bool kept(const Truth& truth, const at::Tensor& found) {
  const bool kept = record::ErrorBudget{"", truth.eager(), truth.allowed(true), truth.of(found)}.kept();
  EXPECT_EQ(truth.allows(found, true), kept);
  return kept;
}

class ErrorsOf : public testing::TestWithParam<at::ScalarType> {
 protected:
  at::Tensor exact_ = exact_values();
  at::Tensor eager_ = exact_.to(GetParam());
};

TEST_P(ErrorsOf, RoundingIsKept) {
  const Truth truth(exact_, eager_);
  EXPECT_TRUE(kept(truth, eager_));
  EXPECT_LE(truth.eager().ulp, 0.54) << "half a unit in the last place, and a sixteenth of an octave";
  EXPECT_TRUE(kept(truth, exact_.mul(1 + 4e-16).to(GetParam())));
}

TEST_P(ErrorsOf, AnswersThatTakeNoWorkAreNot) {
  for (const double scale : {1.0, 1e-6}) {
    const at::Tensor exact = exact_values(scale).to(GetParam()).to(at::kDouble), eager = exact.to(GetParam());
    const Truth truth(exact, eager);
    EXPECT_FALSE(kept(truth, at::zeros_like(eager))) << scale;
    EXPECT_FALSE(kept(truth, at::ones_like(eager))) << scale;
    EXPECT_FALSE(kept(truth, eager.roll(1, 0))) << scale;
    EXPECT_FALSE(kept(truth, eager.mul(1.1))) << scale;
  }
}

TEST_P(ErrorsOf, OneWrongElementIsNot) {
  const Truth truth(exact_, eager_);
  at::Tensor found = eager_.clone();
  found[17][33] = found[17][33].add(0.25);
  const record::Errors errors = truth.of(found);
  EXPECT_GT(errors.row, truth.allowed(true).row);
  EXPECT_FALSE(kept(truth, found));
}

TEST(Errors, OfOneStepBelowTheNormalNumbersAreKept) {
  constexpr double kStep = 0x1p-24;  // of float16 there
  const at::Tensor exact = exact_values().mul_(1e-6 / 4);
  const at::Tensor eager = exact.to(at::kHalf);
  const Truth truth(exact, eager);
  at::Tensor found = eager.clone();
  found[3][5] = found[3][5].add(kStep);
  EXPECT_TRUE(kept(truth, found));
  found[3][5] = found[3][5].add(100 * kStep);
  EXPECT_FALSE(kept(truth, found));
}

TEST_P(ErrorsOf, SmallElementsThatAreDroppedAreNot) {
  const Truth truth(exact_, eager_);
  const at::Tensor found = eager_.masked_fill(eager_.abs().lt(2e-3), 0);
  EXPECT_GT(truth.of(found).zeros, truth.allowed(true).zeros);
}

TEST_P(ErrorsOf, ZerosWhereTermsCancelAreFine) {
  const at::Tensor exact = exact_.masked_fill(exact_.lt(0), 1e-16);
  const at::Tensor eager = exact.to(GetParam());
  const Truth truth(exact, eager);
  const at::Tensor found = eager.masked_fill(eager.lt(1e-9), 0);
  EXPECT_EQ(truth.of(found).zeros, 0);
  EXPECT_TRUE(kept(truth, found));
}

TEST(Errors, OfShortTermsInAnotherOrderAreKept) {
  for (const at::ScalarType type : {at::kBFloat16, at::kHalf}) {
    for (const double size : {1.0, 0.2}) {
      at::Tensor terms = at::randn({3, 512, 1024}, at::detail::createCPUGenerator(3), at::TensorOptions(at::kFloat));
      terms[0].mul_(size);
      terms = terms.to(type);
      const Truth truth(terms.to(at::kDouble).sum(0), terms[1].add(terms[2]).add(terms[0]));
      const at::Tensor other = terms[0].add(terms[1]).add(terms[2]);
      EXPECT_GT(other.eq(0).sum().item<int64_t>(), size < 1 ? 50 : 30);
      EXPECT_LE(truth.of(other).zeros, truth.allowed(true).zeros) << type << " " << size;
      EXPECT_TRUE(kept(truth, other)) << type << " " << size;
      EXPECT_FALSE(kept(truth, other.masked_fill(other.abs().lt(0.05), 0))) << type << " " << size;
    }
  }
}

// Of what rounding left, eager may have some by chance; it is no more right for that.
TEST_P(ErrorsOf, ZerosAreFineWhereEagerIsFarOffItself) {
  const at::Tensor rest = exact_.lt(0);
  const at::Tensor exact = exact_.masked_fill(rest, 1e-3);
  const at::Tensor eager = exact_.masked_fill(rest, 1e-5).to(GetParam());
  const Truth truth(exact, eager);
  const at::Tensor found = eager.masked_fill(rest, 0);
  EXPECT_EQ(truth.of(found).zeros, 0);
  EXPECT_TRUE(kept(truth, found));
  const Truth knows(exact, exact.to(GetParam()));
  EXPECT_EQ(knows.of(found).zeros, rest.sum().item<int64_t>());
}

TEST_P(ErrorsOf, NanAndInfinitiesHaveTheirPlaces) {
  at::Tensor exact = exact_.clone();
  exact[0][0] = std::nan("");
  exact[0][1] = kInfinity;
  exact[0][2] = -kInfinity;
  const at::Tensor eager = exact.to(GetParam());
  const Truth truth(exact, eager);
  EXPECT_TRUE(kept(truth, eager));
  const struct {
    int column;
    double value;
  } wrongs[] = {{0, 1.0},          {0, kInfinity},    {1, -kInfinity}, {1, 5.0},
                {2, std::nan("")}, {3, std::nan("")}, {3, kInfinity}};
  for (const auto& wrong : wrongs) {
    at::Tensor found = eager.clone();
    found[0][wrong.column] = wrong.value;
    EXPECT_EQ(truth.of(found).misplaced, 1) << wrong.column << " " << wrong.value;
    EXPECT_FALSE(kept(truth, found));
  }
}

INSTANTIATE_TEST_SUITE_P(Types, ErrorsOf, testing::Values(at::kDouble, at::kFloat, at::kHalf, at::kBFloat16));

TEST(Errors, OfALowerPrecisionAreNotKept) {
  const at::Tensor exact = exact_values(), eager = exact.to(at::kFloat);
  const Truth truth(exact, eager);
  EXPECT_FALSE(kept(truth, eager.to(at::kHalf).to(at::kFloat)));
  EXPECT_FALSE(kept(truth, eager.to(at::kBFloat16).to(at::kFloat)));
  const at::Tensor half = exact.to(at::kHalf);
  EXPECT_FALSE(kept(Truth(exact, half), half.to(at::kFloat8_e4m3fn).to(at::kHalf)));
}

TEST(Errors, OfASumInAnotherOrderAreKept) {
  const at::Tensor terms = at::randn({128, 4096}, at::detail::createCPUGenerator(3), at::TensorOptions(at::kFloat));
  at::Tensor one_by_one = at::zeros_like(terms.select(1, 0));
  for (int64_t i = 0; i < terms.size(1); ++i) one_by_one.add_(terms.select(1, i));
  EXPECT_TRUE(kept(Truth(terms.to(at::kDouble).sum(1), terms.sum(1)), one_by_one));
}

TEST(Steps, MayBeRoundedTheOtherWayInFewElements) {
  const at::Tensor eager = exact_values().mul(16).round_().div_(16).to(at::kFloat);
  const auto with = [&](int64_t elements, double by) {
    at::Tensor found = eager.clone();
    found.view(-1).narrow(0, 4000, elements).add_(by);
    return found;
  };
  EXPECT_TRUE(is_few_steps_off(eager, with(1, 1.0 / 16)));
  EXPECT_TRUE(is_few_steps_off(eager, with(2, -1.0 / 16)));
  EXPECT_FALSE(is_few_steps_off(eager, with(3, 1.0 / 16))) << "too many";
  EXPECT_FALSE(is_few_steps_off(eager, with(1, 2.0 / 16))) << "two steps";
  EXPECT_FALSE(is_few_steps_off(eager, with(1, 1.0 / 32))) << "no step";
  EXPECT_FALSE(is_few_steps_off(eager, with(1, kInfinity)));
  EXPECT_FALSE(is_few_steps_off(eager, with(1, std::nan(""))));
  const at::Tensor smooth = exact_values();
  EXPECT_FALSE(is_few_steps_off(smooth, smooth.index_put({at::arange(1), at::arange(1)}, smooth[0][1])));
  const at::Tensor few = eager.narrow(0, 0, 4);
  EXPECT_FALSE(is_few_steps_off(few, with(1, 1.0 / 16).narrow(0, 0, 4)));
}

TEST(Errors, MayBeLargerOnOtherInputKinds) {
  const at::Tensor exact = exact_values();
  const Truth wide(exact, exact.to(at::kFloat)), narrow(exact, exact.to(at::kHalf));
  EXPECT_NEAR(wide.allowed(false).row / wide.allowed(true).row, 16, 1e-9);
  EXPECT_NEAR(narrow.allowed(false).row / narrow.allowed(true).row, 4, 1e-9);
}

TEST(Errors, WhereATypeOverflowsEitherAnswerIsFine) {
  at::Tensor exact = exact_values();
  exact[0][0] = 70000.0;  // beyond float16, but not by what eager went
  at::Tensor eager = exact.to(at::kHalf);
  eager[0][0] = 65504.0;
  const Truth truth(exact, eager);
  at::Tensor found = eager.clone();
  found[0][0] = kInfinity;
  EXPECT_TRUE(kept(truth, found));
  EXPECT_TRUE(kept(truth, eager));
}

TEST(Errors, OfNoElementsAreNone) {
  const at::Tensor none = exact_values().slice(0, 0, 0), eager = none.to(at::kFloat);
  EXPECT_TRUE(kept(Truth(none, eager), eager));
}

// What is left of a row after a clamp may be small, and is off by what its terms were rounded by.
TEST(Errors, OfRowsThatAreNearlyClampedAwayGoByWhatRowsHold) {
  at::Tensor exact = exact_values();
  exact[3].zero_();
  exact[3][5] = 0.01;
  const at::Tensor eager = exact.to(at::kFloat);
  const Truth truth(exact, eager);
  at::Tensor found = eager.clone();
  found[3][5] = found[3][5].add(2.5e-7);
  EXPECT_TRUE(kept(truth, found)) << truth.of(found).row;
  found[3][5] = eager[3][5].mul(1 + 0x1p-10);
  EXPECT_FALSE(kept(truth, found)) << "computed in half precision: " << truth.of(found).row;
  record::Errors allowed, apart;
  allowed.norm = allowed.row = 1e-5;
  found[3][5] = eager[3][5].add(2.5e-7);
  EXPECT_TRUE(within(eager, found, allowed, &apart)) << apart.row;
  found[3][5] = eager[3][5].mul(1 + 0x1p-10);
  EXPECT_FALSE(within(eager, found, allowed, &apart));
}

TEST(Rows, LieWhereTheyAreSaidTo) {
  for (const std::vector<int64_t>& shape : {std::vector<int64_t>{500, 30, 7}, {3, 10000}, {99, 101}}) {
    const at::Tensor all = at::arange(c10::multiply_integers(shape), at::kLong).view(shape);
    const Rows rows(shape, 7, 2048);
    ASSERT_FALSE(rows.is_all());
    const at::Tensor some = rows.of(all);
    for (int64_t row = 0; row < some.size(0); ++row) {
      for (int64_t column = 0; column < some.size(1); ++column)
        ASSERT_EQ(some[row][column].item<int64_t>(), rows.place(row, column));
    }
  }
}

// The first rows are looked at before the others, by what all of them hold.
TEST(Errors, OfTheFirstRowsGoByWhatAllRowsHold) {
  at::Tensor exact = exact_values();
  exact = at::cat({at::zeros_like(exact), exact, exact, exact});
  exact.slice(0, 0, exact_values().size(0)).select(1, 5).fill_(0.01);
  const at::Tensor eager = exact.to(at::kFloat);
  const Truth truth(exact, eager);
  at::Tensor found = eager.clone();
  found[3][5] = found[3][5].add(2.5e-7);
  EXPECT_TRUE(kept(truth, found)) << truth.of(found).row;
  EXPECT_TRUE(truth.allows(found, true));
  found[3][5] = eager[3][5].mul(1 + 0x1p-10);
  EXPECT_FALSE(truth.allows(found, true));
}

TEST(Within, TellsHowFarTwoAnswersAreApart) {
  const at::Tensor a = exact_values().to(at::kFloat);
  at::Tensor b = a.clone();
  record::Errors allowed, found;
  allowed.norm = allowed.row = 1e-5;
  EXPECT_TRUE(within(a, b, allowed, &found));
  b[3][4] = b[3][4].add(0.01);
  EXPECT_FALSE(within(a, b, allowed, &found));
  EXPECT_GT(found.row, 1e-3);
  b = a.clone();
  b[3][4] = std::nan("");
  EXPECT_FALSE(within(a, b, allowed, &found));
  EXPECT_EQ(found.misplaced, 1);
}

}  // namespace
}  // namespace passnet::runtime
