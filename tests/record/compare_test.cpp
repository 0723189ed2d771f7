#include "record/score/compare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <map>
#include <random>

#include "example_records.h"
#include "record/verdict.h"

namespace passnet::record {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

/// A correct record of graph "g" with this speedup; spread: the trials lie within so much of their median.
RunRecord fast(double speedup, double spread = 0.01) {
  RunRecord record = record_of("g", speedup, {output_of("float32", -10)});
  record.reference.trials_us.clear();
  record.candidate.trials_us.clear();
  std::mt19937_64 random(5);
  for (int i = 0; i < 100; ++i) {
    const double off = 1 + spread * (double(random() % 1001) - 500) / 500;
    record.reference.trials_us.push_back(20);
    record.candidate.trials_us.push_back(20 / speedup * off);
  }
  return record;
}
RunRecord wrong() { return record_of("g", 3, {output_of("float32", 6)}); }
RunRecord named(RunRecord record, const std::string& sample, const std::string& graph) {
  record.sample = sample;
  record.graph = graph;
  return record;
}

TEST(Compare, TellsFasterAndSlowerWhereTheIntervalsAreApart) {
  const Comparison faster = compare(fast(1.5), fast(2));
  EXPECT_EQ(faster.change, Change::Faster);
  EXPECT_NEAR(faster.ratio, 2 / 1.5, 0.02);
  EXPECT_GT(faster.interval.low, 1);
  EXPECT_EQ(compare(fast(2), fast(1.5)).change, Change::Slower);
}

TEST(Compare, CallsNarrowOverlapTheSameAndWideOverlapUnclear) {
  EXPECT_EQ(compare(fast(2), fast(2)).change, Change::Same);
  // Precise, apart, and yet less than two runs of one thing differ by.
  EXPECT_EQ(compare(fast(2, 0.0001), fast(2.02, 0.0001)).change, Change::Same);
  EXPECT_EQ(compare(fast(2, 0.0001), fast(1.98, 0.0001)).change, Change::Same);
  const Comparison wide = compare(fast(2, 0.18), fast(2.1, 0.18));
  EXPECT_EQ(wide.change, Change::Unclear);
  EXPECT_THAT(wide.why, testing::MatchesRegex("[01]\\.[0-9]+x to 1\\.[0-9]+x of A"));
}

TEST(Compare, SaysWhichSideWasNoisy) {
  const Comparison compared = compare(fast(2), fast(1, 0.9));
  EXPECT_EQ(compared.change, Change::Unclear);
  EXPECT_THAT(compared.why, HasSubstr("noisy in B"));
}

TEST(Compare, PutsRightAndWrongBeforeSpeed) {
  EXPECT_EQ(compare(wrong(), fast(0.5)).change, Change::Right);
  const Comparison worse = compare(fast(0.5), wrong());
  EXPECT_EQ(worse.change, Change::Wrong);
  EXPECT_EQ(worse.why, "is 'wrong'");
  EXPECT_EQ(worse.ratio, 0) << "a wrong graph has no speed";
  EXPECT_EQ(worse.b.speedup, 0);
  EXPECT_EQ(compare(wrong(), wrong()).change, Change::BothWrong);
}

TEST(Compare, BlamesNoPassForTheMachine) {
  const Comparison compared = compare(fast(2), failed_record("g", Stage::Load, "killed", "x"));
  EXPECT_EQ(compared.change, Change::Unclear);
  EXPECT_EQ(compared.why, "not evaluated in B: killed");
}

TEST(Compare, SaysWhichSideWasDisturbed) {
  RunRecord disturbed = fast(2);
  disturbed.disturbed = true;
  const Comparison compared = compare(disturbed, fast(2));
  EXPECT_EQ(compared.change, Change::Unclear);
  EXPECT_EQ(compared.why, "disturbed in A");
  EXPECT_EQ(compared.ratio, 0);
}

TEST(Compare, NeedsTimes) {
  RunRecord untimed = fast(2);
  untimed.reference.trials_us.clear();
  untimed.candidate.trials_us.clear();
  EXPECT_EQ(compare(untimed, fast(2)).change, Change::Unclear);
}

RC_GTEST_PROP(Compare, TurnsRoundWithItsSides, ()) {
  const double a = *rc::gen::inRange(50, 400) / 100.0, b = *rc::gen::inRange(50, 400) / 100.0;
  const RunRecord before = fast(a), after = fast(b);
  const Comparison forth = compare(before, after), back = compare(after, before);
  const std::map<Change, Change> turned = {{Change::Faster, Change::Slower},
                                           {Change::Slower, Change::Faster},
                                           {Change::Same, Change::Same},
                                           {Change::Unclear, Change::Unclear}};
  RC_ASSERT(back.change == turned.at(forth.change));
  RC_ASSERT(std::abs(forth.ratio * back.ratio - 1) < 1e-9);
  RC_ASSERT(forth.interval.low <= forth.ratio && forth.ratio <= forth.interval.high);
}

TEST(CompareRuns, PairsByNameAndTellsWhatIsMissing) {
  const std::vector<RunRecord> a = {named(fast(2), "s", "x"), named(fast(2), "s", "gone"), named(fast(2), "t", "x")};
  const std::vector<RunRecord> b = {named(fast(1), "t", "x"), named(fast(2), "s", "x"), named(fast(2), "s", "new")};
  const RunComparison runs = compare_runs(a, b);
  std::vector<std::string> told;
  for (const Comparison& one : runs.graphs) told.push_back(one.sample + "/" + one.graph + " " + to_string(one.change));
  EXPECT_THAT(told, ElementsAre("s/x SAME", "s/gone ONLY IN A", "t/x SLOWER", "s/new ONLY IN B"));
  EXPECT_TRUE(runs.worse());
  EXPECT_FALSE(compare_runs(b, a).worse()) << "what is missing is not worse";
}

TEST(CompareRuns, PairsCopiesOfOneSampleByGraph) {
  const RunComparison runs = compare_runs({named(fast(2), "sample", "x")}, {named(fast(3), "sample_copy", "x")});
  ASSERT_EQ(runs.graphs.size(), 1u);
  EXPECT_EQ(runs.graphs[0].change, Change::Faster);
}

TEST(CompareRuns, CountsTheLastRecordOfAGraphAlone) {
  const RunComparison runs = compare_runs({wrong(), fast(2)}, {fast(2)});
  ASSERT_EQ(runs.graphs.size(), 1u);
  EXPECT_EQ(runs.graphs[0].change, Change::Same);
}

TEST(CompareRuns, SaysOnceWhatTheRunsWereMadeOf) {
  std::vector<RunRecord> a, b;
  for (const char* graph : {"x", "y"}) {
    a.push_back(named(fast(2), "s", graph));
    a.back().provenance.emplace().options.trials = 100;
    b.push_back(a.back());
    b.back().provenance->options.trials = 12;
  }
  EXPECT_THAT(compare_runs(a, b).differences, ElementsAre("--trials 12, was 100"));
  b[1].provenance.reset();
  EXPECT_THAT(compare_runs(a, b).differences,
              ElementsAre("--trials 12, was 100", "some records do not say what they were made of"));
}

TEST(Agreement, AsksForVerdictToleranceAndSpeed) {
  EXPECT_TRUE(agreement(fast(2), fast(2)).agrees);
  EXPECT_FALSE(agreement(fast(2), fast(1)).agrees);
  EXPECT_FALSE(agreement(fast(2), wrong()).agrees);
  EXPECT_THAT(agreement(fast(2), wrong()).remarks, ElementsAre("verdict: 'wrong', was 'correct'"));
  EXPECT_TRUE(agreement(wrong(), wrong()).agrees);
  RunRecord looser = fast(2);
  looser.outputs[0].passes_from = -6;
  EXPECT_FALSE(agreement(fast(2), looser).agrees);
  EXPECT_TRUE(agreement(looser, fast(2)).agrees) << "a stricter tolerance is no disagreement";
  EXPECT_THAT(agreement(looser, fast(2)).remarks, testing::Contains("tolerance: right from t = -10, was -6"));
}

TEST(Agreement, OfFailuresIsTheSameWayToFail) {
  const RunRecord crash = failed_record("g", Stage::Run, "crash", "x"),
                  timeout = failed_record("g", Stage::Run, "timeout", "x");
  EXPECT_TRUE(agreement(crash, crash).agrees);
  EXPECT_FALSE(agreement(crash, timeout).agrees);
}

}  // namespace
}  // namespace passnet::record
