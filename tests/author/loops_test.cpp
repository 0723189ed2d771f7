// Sizes and places: that what is split and merged again comes back, and what a plan must ask for.
#include <gmock/gmock.h>

#include "author/fuse/access.h"
#include "author/loops/expression.h"

namespace passnet::author {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

struct Loops : ::testing::Test {
  SizeTable sizes{2};
  SizeId batch = sizes.dimension({2, 4}, "x.shape[0]", "batch");
  SizeId heads = sizes.dimension({12, 8}, "x.shape[1]", "heads");
  SizeId width = sizes.dimension({64, 32}, "x.shape[2]", "width");
  IndexTable indices{sizes};
  ExprTable exprs{indices};
  std::vector<IndexId> place_in(const std::vector<SizeId>& shape) {
    std::vector<IndexId> place;
    for (const SizeId size : shape) place.push_back(indices.variable(indices.new_variable(size)));
    return place;
  }
};

TEST_F(Loops, EqualSizesAreOneAndThePlanAsksForIt) {
  EXPECT_EQ(sizes.dimension({2, 4}, "y.shape[0]", "rows"), batch);
  EXPECT_THAT(sizes.conditions(), ElementsAre("y.shape[0] == batch"));
  const SizeId both = sizes.product(heads, width);
  EXPECT_EQ(sizes.dimension({768, 256}, "y.shape[1]", "rows"), both);
  EXPECT_THAT(sizes.conditions(), Contains("y.shape[1] == heads * width"));
}

TEST_F(Loops, ConstantsOfThePatternAreKnownByTheirNames) {
  const SizeId given = sizes.given({3, 5}, "shape");
  EXPECT_EQ(sizes.plan_text(sizes.product(given, width)), "shape * width");
  EXPECT_EQ(sizes.kernel_text(given), "SHAPE");
  const SizeId from_end = sizes.given({7, 6}, "-start");
  EXPECT_EQ(sizes.given({7, 6}, "-start"), from_end);
  EXPECT_THAT(sizes.lines(), Contains("amount = -start"));
  EXPECT_EQ(sizes.given({12, 8}, "count"), heads);
  EXPECT_THAT(sizes.conditions(), ElementsAre("count == heads"));
}

TEST_F(Loops, NamesThatMeanSomethingElseAreNoSizes) {
  SizeTable other{2, {"batch"}};
  EXPECT_EQ(other.plan_text(other.dimension({2, 4}, "x.shape[0]", "batch")), "batch_2");
}

TEST_F(Loops, ASizeOfOneNeedsNoLoop) {
  EXPECT_TRUE(sizes.is_one(sizes.dimension({1, 1}, "y.shape[0]", "rows")));
  EXPECT_EQ(indices.variable(indices.new_variable(sizes.one())), indices.zero());
}

TEST_F(Loops, SizesThatDoNotDivideAreRefused) {
  EXPECT_FALSE(sizes.quotient(heads, batch).has_value() && sizes.quotient(width, heads).has_value());
  EXPECT_TRUE(sizes.quotient(sizes.product(heads, width), heads).has_value());
}

TEST_F(Loops, WhatIsMergedAndSplitAgainComesBack) {
  const std::vector<SizeId> apart = {batch, heads, width}, merged = {batch, sizes.product(heads, width)};
  const std::vector<IndexId> place = place_in(apart);
  const std::vector<IndexId> there = indices.reshape(place, apart, merged);
  ASSERT_EQ(there.size(), 2u);
  EXPECT_EQ(indices.reshape(there, merged, apart), place);
  const std::vector<IndexId> flat = place_in(merged);
  EXPECT_EQ(indices.reshape(indices.reshape(flat, merged, apart), apart, merged), flat);
}

TEST_F(Loops, StepsAreThoseOfMemory) {
  const std::vector<SizeId> shape = {batch, heads, width};
  const std::vector<IndexId> place = place_in(shape);
  const Access access = access_of(exprs, place, sizes.contiguous_strides(shape));
  EXPECT_THAT(access.rest, IsEmpty());
  ASSERT_EQ(access.steps.size(), 3u);
  EXPECT_EQ(sizes.values(access.steps.at(0)), (ByExample{768, 256}));
  EXPECT_TRUE(sizes.is_one(access.steps.at(2)));
}

TEST_F(Loops, AQuotientAndItsRemainderAreSteps) {
  const SizeId both = sizes.product(heads, width);
  const std::vector<IndexId> flat = place_in({both});
  const std::vector<IndexId> split = {indices.divide(flat[0], width), indices.remainder(flat[0], width)};
  const Access access = access_of(exprs, split, {width, sizes.one()});
  EXPECT_THAT(access.irregular, IsEmpty());
  ASSERT_EQ(access.steps.size(), 1u);
  EXPECT_TRUE(sizes.is_one(access.steps.begin()->second));
}

TEST_F(Loops, VariablesOfAReductionAreItsOwn) {
  const VariableId outer = indices.new_variable(batch), inner = indices.new_variable(width);
  const ExprId load = exprs.load(0, {indices.variable(outer), indices.variable(inner)}, 0, Compute::Float);
  const ExprId total = exprs.reduce(Fold::Sum, 1, {inner}, load);
  EXPECT_EQ(exprs.free_variables(load), (std::set<VariableId>{outer, inner}));
  EXPECT_EQ(exprs.free_variables(total), (std::set<VariableId>{outer}));
  EXPECT_EQ(exprs.reduce(Fold::Sum, 1, {inner}, load), total);
}

TEST_F(Loops, WhatIsChosenAmongElementsIsNotRoundedToThemAgain) {
  const ElementId half = 0, other = 1;
  const ExprId x = exprs.load(0, {}, half, Compute::Float), y = exprs.load(1, {}, other, Compute::Float);
  const ExprId tenth = exprs.number(0.1);
  using formula::A, formula::B, formula::C, formula::choose;
  const Formula relu = choose(A < 0, 0, A), larger = choose(B < A, B, A);
  const auto is_rounded = [&](ExprId id) { return exprs.at(exprs.round(id, half)).kind == Expr::Kind::Round; };
  for (const ExprId one :
       {x, exprs.apply(-A, {x}), exprs.apply(formula::abs(A), {x}), exprs.apply(relu, {x}),
        exprs.apply(choose(A < B, B, choose(A > C, C, A)), {x, exprs.number(0), exprs.number(6)}),
        exprs.apply(larger, {x, exprs.round(tenth, half)}), exprs.guard(exprs.integer(1, Compute::Bool), x, x)})
    EXPECT_EQ(exprs.round(one, half), one);
  for (const ExprId one : {y, tenth, exprs.apply(A + B, {x, x}), exprs.apply(larger, {x, tenth}),
                           exprs.apply(choose(A > 0.0, A, A * B), {x, x}), exprs.apply(A * relu, {x}),
                           exprs.apply(relu + A, {x}), exprs.number(257)})
    EXPECT_TRUE(is_rounded(one)) << one;
}

TEST(Formulas, AreWrittenWithTheParenthesesThatTheyNeed) {
  using namespace formula;
  const auto text = [](const Formula& of, Target target = Target::Cpu, bool vectors = false) {
    return of.text(
        {"a", "b", "c"}, [](int64_t type) { return type == Formula::kFloat ? "float" : "T"; }, target, vectors);
  };
  EXPECT_EQ(text(A + B * C), "a + b * c");
  EXPECT_EQ(text((A + B) * C), "(a + b) * c");
  EXPECT_EQ(text(A - (B - C)), "a - (b - c)");
  EXPECT_EQ(text(A * B / C), "a * b / c");
  EXPECT_EQ(text(A * (B / C)), "a * (b / c)");
  EXPECT_EQ(text(-(A * B) - -A), "-(a * b) - -a");
  EXPECT_EQ(text((A - B >= 0) & (A < 1.5)), "(a - b >= 0) & (a < 1.5f)");
  EXPECT_EQ(text(choose(A < 0, -1.0, A)), "(a < 0 ? -1.0f : a)");
  EXPECT_EQ(text(choose(A < 0, 0, A), Target::Cpu, true), "select(a < 0, 0, a)");
  EXPECT_EQ(text(formula::tan(A)), "__builtin_tanf(a)");
  EXPECT_EQ(text(formula::tan(A), Target::Cuda), "::tanf(a)");
}

TEST(Formulas, AreResolvedForAType) {
  using namespace formula;
  const auto text = [](const Formula& of) {
    return of.text(
        {"a", "b"}, [](int64_t type) { return type == Formula::kFloat ? "float" : "T"; }, Target::Cpu);
  };
  const Formula quotient = A / stored(1.0 + formula::abs(A)), bounded = choose((B < A) | maybe_nan(B), B, A);
  EXPECT_EQ(text(quotient.resolved(0, Op::Rounded, {})), "a / rounded<T>(1.0f + abs(a))");
  EXPECT_EQ(text(quotient.resolved(0, Op::Wrapped, {})), "a / int64_t(T(1.0f + abs(a)))");
  EXPECT_EQ(text(quotient.resolved(0, Op::Stored, {})), "a / (1.0f + abs(a))");
  EXPECT_EQ(text(floor_divide(A, B).resolved(Formula::kFloat, Op::Stored, {})), "floor_divide<float>(a, b)");
  EXPECT_EQ(text(bounded.resolved(0, Op::Stored, {true, true})), "((b < a) | (b != b) ? b : a)");
  EXPECT_EQ(text(bounded.resolved(0, Op::Stored, {true, false})), "(b < a ? b : a)");
  EXPECT_EQ(text((A + B).wrapping()), "int64_t(uint64_t(a) + uint64_t(b))");
}

}  // namespace
}  // namespace passnet::author
