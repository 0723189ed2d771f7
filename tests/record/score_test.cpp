#include "record/score/score.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "example_records.h"

namespace passnet::record {
namespace {

ScoreOptions options_of(double p, Interpretation interpretation = Interpretation::Default) {
  ScoreOptions options;
  options.slow_exponent = p;
  options.interpretation = interpretation;
  return options;
}

Score score_of_example(double p, Interpretation interpretation = Interpretation::Default) {
  return score(judge_all(worked_example()), options_of(p, interpretation));
}

// Spec E.5, complete. Each row of a table holds for t from the first to the second number.
struct ExampleRow {
  int first, last;
  double s0, es0_default, es0_extended, s01, es01_default, s1, es1_default;
};
constexpr ExampleRow kExample[] = {
    {-10, -7, 0.133352, 0.133352, 0.133352, 0.133352, 0.133352, 0.133352, 0.133352},
    {-6, -4, 0.193923, 0.193923, 0.193923, 0.193923, 0.193923, 0.193923, 0.193923},
    {-3, 0, 0.237137, 0.237137, 0.237137, 0.235092, 0.235092, 0.217456, 0.217456},
    {1, 1, 0.237137, 0.316228, 0.316228, 0.235092, 0.313500, 0.217456, 0.289982},
    {2, 2, 0.332668, 0.316228, 0.421697, 0.329798, 0.313500, 0.305058, 0.289982},
    {3, 3, 0.332668, 1.000000, 0.562341, 0.329798, 0.991373, 0.305058, 0.917004},
    {4, 4, 0.332668, 1.000000, 0.749894, 0.329798, 0.991373, 0.305058, 0.917004},
};
constexpr double kSixDigits = 5e-7;

TEST(Score, ReproducesTheWorkedExample) {
  const Score p0 = score_of_example(0), p01 = score_of_example(0.1), p1 = score_of_example(1);
  const Score extended = score_of_example(0, Interpretation::MismatchExtended);
  for (const ExampleRow& row : kExample) {
    for (int t = row.first; t <= row.last; ++t) {
      EXPECT_NEAR(p0.at(t).s, row.s0, kSixDigits) << t;
      EXPECT_NEAR(p0.at(t).es, row.es0_default, kSixDigits) << t;
      EXPECT_NEAR(extended.at(t).s, row.s0, kSixDigits) << t;
      EXPECT_NEAR(extended.at(t).es, row.es0_extended, kSixDigits) << t;
      EXPECT_NEAR(p01.at(t).s, row.s01, kSixDigits) << t;
      EXPECT_NEAR(p01.at(t).es, row.es01_default, kSixDigits) << t;
      EXPECT_NEAR(p1.at(t).s, row.s1, kSixDigits) << t;
      EXPECT_NEAR(p1.at(t).es, row.es1_default, kSixDigits) << t;
    }
  }
}

TEST(Score, ExtendedForgivesLikeDefaultAtTheSlowExponents) {
  // E.5 lists the extended columns for p = 0 only; S does not depend on the interpretation, and ES_1 neither.
  for (double p : {0.1, 1.0}) {
    const Score normal = score_of_example(p), extended = score_of_example(p, Interpretation::MismatchExtended);
    for (int t = -10; t <= 4; ++t) EXPECT_EQ(normal.at(t).s, extended.at(t).s);
    EXPECT_NEAR(normal.at(1).es, extended.at(1).es, 1e-15);
  }
  // By hand: product of counted values, 8 samples. s2 = 0.5^(1+p); at 4 only the eager failure is not
  // forgiven.
  EXPECT_NEAR(score_of_example(0.1, Interpretation::MismatchExtended).at(4).es,
              std::pow(2 * std::pow(0.5, 1.1) * 0.1, 1 / 8.0), 1e-12);
  EXPECT_NEAR(score_of_example(1, Interpretation::MismatchExtended).at(2).es, std::pow(2 * 0.25 * 1e-3, 1 / 8.0),
              1e-12);
}

TEST(Score, LeavesOutWhatTheMachineKeptFromBeingEvaluated) {
  std::vector<RunRecord> records = worked_example();
  const Score before = score(judge_all(records));
  for (const char* kind : {"resource", "io", "killed"}) {
    for (const Stage stage : {Stage::Parse, Stage::Build, Stage::Run, Stage::Time})
      records.push_back(failed_record("not evaluated", stage, kind, "disk full"));
  }
  const Score after = score(judge_all(records));
  EXPECT_EQ(after.total, before.total);
  EXPECT_EQ(after.aggregated, before.aggregated);
}

TEST(Score, AggregatesToNineDigits) {
  EXPECT_NEAR(score_of_example(0).aggregated, -0.518507388, 5e-10);
  EXPECT_NEAR(score_of_example(0.1).aggregated, -0.521216827, 5e-10);
  EXPECT_NEAR(score_of_example(1).aggregated, -0.545601781, 5e-10);
  EXPECT_NEAR(score_of_example(0).aggregated_linear, std::pow(10, -0.518507388), 1e-9);
}

TEST(Score, FreezesTheMacroQuantitiesAtOne) {
  const Score normal = score_of_example(0), extended = score_of_example(0, Interpretation::MismatchExtended);
  for (int t = 1; t <= 4; ++t) {
    EXPECT_DOUBLE_EQ(normal.at(t).correct_share, 3.0 / 8);
    EXPECT_NEAR(normal.at(t).alpha, 1, 1e-15);
    EXPECT_NEAR(normal.at(t).beta, 0.5, 1e-15);
    EXPECT_DOUBLE_EQ(normal.at(t).eta, 1.0 / 3);
    EXPECT_EQ(normal.at(t).error_shares, (std::array<double, 4>{0.2, 0.6, 0.2, 0}));
    EXPECT_EQ(extended.at(t).error_shares, (std::array<double, 4>{0.2, 0.2, 0.4, 0.2}));
  }
  EXPECT_NEAR(normal.at(0).gamma, 0.1, 1e-15);
  const std::map<int, double> gamma_default = {{1, 0.158489}, {2, 0.158489}, {3, 1}, {4, 1}};
  const std::map<int, double> gamma_extended = {{1, 0.158489}, {2, 0.251189}, {3, 0.630957}, {4, 1}};
  for (const auto& [t, gamma] : gamma_default) EXPECT_NEAR(normal.at(t).gamma, gamma, kSixDigits) << t;
  for (const auto& [t, gamma] : gamma_extended) EXPECT_NEAR(extended.at(t).gamma, gamma, kSixDigits) << t;
}

TEST(Score, ReportsThatTheFormsDisagreeInTheExtendedReading) {
  for (double p : {0.0, 0.1, 1.0}) EXPECT_TRUE(score_of_example(p).forms_agree) << p;
  const Score extended = score_of_example(0, Interpretation::MismatchExtended);
  EXPECT_FALSE(extended.forms_agree);
  EXPECT_TRUE(extended.at(2).forms_agree);
  EXPECT_FALSE(extended.at(3).forms_agree);
  EXPECT_NEAR(extended.at(3).es_macro, 0.749894, kSixDigits);
  EXPECT_NEAR(extended.at(3).es, 0.562341, kSixDigits);
  EXPECT_FALSE(extended.at(4).forms_agree);
  EXPECT_NEAR(extended.at(4).es_macro, 1.0, kSixDigits);
  EXPECT_NEAR(extended.at(4).es, 0.749894, kSixDigits);
}

TEST(Score, HasOneRungMoreThanErrorClasses) {
  EXPECT_EQ(score_of_example(0).points.front().t, -10);
  EXPECT_EQ(score_of_example(0).points.back().t, 4);
  EXPECT_EQ(score_of_example(0, Interpretation::MismatchExtended).points.back().t, 5);
}

TEST(Score, SummarisesTheGraphsCorrectAtMinusFive) {
  const Score summary = score_of_example(0);
  EXPECT_EQ(summary.total, 8);
  EXPECT_EQ(summary.correct, 2);  // s1 and s8
  EXPECT_DOUBLE_EQ(summary.correct_share, 0.25);
  EXPECT_DOUBLE_EQ(summary.fast_share, 0.125);
  ASSERT_TRUE(summary.geomean_speedup);
  EXPECT_NEAR(*summary.geomean_speedup, std::sqrt(2.0), 1e-12);
}

TEST(Score, OfNothingIsNeutral) {
  const Score nothing = score({});
  EXPECT_EQ(nothing.total, 0);
  EXPECT_EQ(nothing.aggregated, 0);
  EXPECT_EQ(nothing.correct_share, 0);
  EXPECT_TRUE(nothing.forms_agree);
}

TEST(Score, OfAllEagerIsOne) {
  const Score eager = score({{Status::Correct, -10, 1}, {Status::Correct, -10, 1}});
  EXPECT_EQ(eager.aggregated, 0);
  EXPECT_EQ(eager.aggregated_linear, 1);
  EXPECT_EQ(eager.passbench, 1);
}

TEST(Score, PassBenchsWeightsGiveItsKnownFloors) {
  // Always numerically wrong and always crashing, under the weights its AS is published with.
  EXPECT_NEAR(score({{Status::Correct, 6, 2}}).passbench, 0.147, 5e-4);
  EXPECT_NEAR(score({{Status::RuntimeFail, 6, 0}}).passbench, 0.111, 5e-4);
}

TEST(Score, CountsACorrectGraphWithoutTimesAsAFailure) {
  const Score untimed = score({{Status::Correct, -10, 0}});
  EXPECT_NEAR(untimed.at(-10).s, 0.1, 1e-15);
  EXPECT_NEAR(untimed.at(2).es, 0.1, 1e-15);
  EXPECT_EQ(untimed.correct, 1);
  EXPECT_EQ(untimed.geomean_speedup, std::nullopt);
}

TEST(Score, JsonHasNoMeanOfNothing) {
  const Json none = to_json(score({{Status::RuntimeFail, 6, 0}}), "s");
  EXPECT_TRUE(none["geomean_speedup"].is_null());
  EXPECT_TRUE(none["points"][0]["alpha"].is_null());
  EXPECT_TRUE(none["points"][0]["beta"].is_null());
  const Json fast = to_json(score({{Status::Correct, -10, 2}}), "s");
  EXPECT_EQ(fast["geomean_speedup"], 2);
  EXPECT_EQ(fast["points"][0]["alpha"], 2);
  EXPECT_TRUE(fast["points"][0]["beta"].is_null());
}

TEST(Score, JsonHasUpstreamsKeysFirst) {
  const Json json = to_json(score_of_example(0), "sample \xff");
  EXPECT_EQ(json.begin().key(), "id");
  EXPECT_EQ(json["id"], "sample \xef\xbf\xbd");
  EXPECT_NEAR(json["score"].get<double>(), -0.518507388, 5e-10);
  EXPECT_EQ(json["points"].size(), 15u);
  EXPECT_EQ(json["total"], 8);
  EXPECT_EQ(json["forms_agree"], true);
  EXPECT_EQ(json["interpretation"], "default");
}

rc::Gen<std::vector<Verdict>> verdicts_with(double slowest) {
  return rc::gen::container<std::vector<Verdict>>(rc::gen::exec([slowest] {
    Verdict verdict;
    verdict.status = static_cast<Status>(std::max(0, *rc::gen::inRange(-4, 6)));
    if (verdict.status != Status::Correct) return verdict;
    verdict.passes_from = *rc::gen::inRange(-10, 7);
    verdict.speedup = slowest + *rc::gen::inRange(0, 4000) / 1000.0;
    return verdict;
  }));
}

RC_GTEST_PROP(Score, GrowsWithToleranceWhenNoGraphIsSlowerThanAFailure, ()) {
  const auto interpretation = *rc::gen::element(Interpretation::Default, Interpretation::MismatchExtended);
  const Score result = score(*verdicts_with(0.1), options_of(0, interpretation));
  for (size_t i = 1; i < result.points.size(); ++i) {
    RC_ASSERT(result.points[i].s >= result.points[i - 1].s * (1 - 1e-12));
    RC_ASSERT(result.points[i].es >= result.points[i - 1].es * (1 - 1e-12));
  }
}

RC_GTEST_PROP(Score, EsIsAtLeastSWhereCorrectnessIsSettledAtOne, ()) {
  const auto verdicts = *verdicts_with(0.01);
  const Score result = score(verdicts);
  const bool settled = std::none_of(verdicts.begin(), verdicts.end(), [](const Verdict& verdict) {
    return verdict.status == Status::Correct && verdict.passes_from > 1 && verdict.passes_from < 6;
  });
  RC_ASSERT(result.at(1).es >= result.at(1).s * (1 - 1e-12));
  if (!settled) return;
  for (int t = 2; t <= 4; ++t) RC_ASSERT(result.at(t).es >= result.at(t).s * (1 - 1e-12));
}

RC_GTEST_PROP(Score, DoesNotDependOnTheOrderOfGraphs, ()) {
  auto verdicts = *verdicts_with(0.01);
  const Score before = score(verdicts);
  std::reverse(verdicts.begin(), verdicts.end());
  RC_ASSERT(std::abs(score(verdicts).aggregated - before.aggregated) < 1e-12);
}

RC_GTEST_PROP(Score, BothFormsAgreeInTheDefaultReading, ()) {
  const double p = *rc::gen::element(0.0, 0.1, 1.0);
  RC_ASSERT(score(*verdicts_with(0.01), options_of(p)).forms_agree);
}

}  // namespace
}  // namespace passnet::record
