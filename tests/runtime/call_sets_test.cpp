// Inputs of timed calls that are put together from the recorded ones.
#include "runtime/session/inputs/call_sets.h"

#include <ATen/ops/_unique2.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/empty_like.h>
#include <gtest/gtest.h>

namespace passnet::runtime {
namespace {

class CallSetsOf : public testing::TestWithParam<int64_t> {
 protected:
  void SetUp() override {
    inputs_.entries = {{"x", ir::DType::Float32, {GetParam()}, 0}};
    UniqueFd fd;
    auto made = CallSets::make({inputs_, metas_, 0, int64_t{1} << 30}, 2, &fd);
    ASSERT_TRUE(made) << made.error().message;
    sets_ = std::move(*made);
  }
  at::Tensor filled(int64_t set, uint64_t seed) {
    sets_->follow(seed, true);
    at::Tensor to = at::empty_like(like_);
    sets_->fill(set, "x", like_, to);
    return to;
  }
  static int64_t distinct(const at::Tensor& of) { return std::get<0>(at::_unique2(of)).numel(); }

  InputSet inputs_;
  graphdir::Metas metas_;
  std::unique_ptr<CallSets> sets_;
  at::Tensor like_ = at::arange(GetParam(), at::TensorOptions(at::kFloat));
};

TEST_P(CallSetsOf, HoldFewElementsTwice) {
  constexpr uint64_t kSeeds = 20;
  int64_t found = 0;
  for (uint64_t seed = 0; seed < kSeeds; ++seed) found += distinct(filled(0, seed));
  EXPECT_GT(found, GetParam() * int64_t{kSeeds} * 9 / 10);
}

TEST_P(CallSetsOf, DifferFromCallToCall) {
  const at::Tensor first = filled(0, 7);
  for (const at::Tensor& other : {filled(1, 7), filled(0, 8), like_}) {
    EXPECT_LT(first.eq(other).sum().item<int64_t>(), GetParam() / 10);
    EXPECT_NE(first.to(at::kDouble).sum().item<double>(), other.to(at::kDouble).sum().item<double>());
  }
  EXPECT_TRUE(first.equal(filled(0, 7)));
}

INSTANTIATE_TEST_SUITE_P(Elements, CallSetsOf, testing::Values(257, 1000, 8191, 8192, 65536 + 77, 300'000));

}  // namespace
}  // namespace passnet::runtime
