#include "record/upstream/upstream_rules.h"

#include <gtest/gtest.h>

#include <vector>

#include "example_records.h"
#include "record/input_kinds.h"

namespace passnet::record {
namespace {

double upstream_score(const std::vector<RunRecord>& records) {
  std::vector<Verdict> verdicts;
  for (const RunRecord& record : records) {
    if (const UpstreamVerdict one = judge_by_upstream(record); one.verdict) verdicts.push_back(*one.verdict);
  }
  return score(verdicts, kUpstreamScore).passbench;
}

ErrorBudget broken_budget(const std::string& input_kind) {
  ErrorBudget budget;
  budget.input_kind = input_kind;
  budget.found.norm = 1;
  return budget;
}

// The values that published scores of tasks pile up at: nothing matched, everything crashed, everything was wrong.
TEST(UpstreamRules, HaveThePublishedFloors) {
  EXPECT_NEAR(upstream_score({failed_record("a", Stage::Match, "no-match", "")}), 0.1, 1e-12);
  EXPECT_NEAR(upstream_score({failed_record("a", Stage::Build, "bad-pass", "")}), 0.1, 1e-12);
  EXPECT_NEAR(upstream_score({failed_record("a", Stage::Run, "crash", "")}), 0.1107, 5e-5);
  EXPECT_NEAR(upstream_score({record_of("a", 3, {output_of("float32", 6)})}), 0.1472, 5e-5);
}

TEST(UpstreamRules, DoNotSeeAliasesAndStrides) {
  RunRecord record = record_of("a", 2, {output_of("float32", -7)});
  record.outputs[0].expected_layout = Layout{{3, 1}, 0, ""};
  record.outputs[0].found_layout = Layout{{3, 1}, 0, "input x"};
  ASSERT_EQ(headline(record), "wrong layout");
  const UpstreamVerdict found = judge_by_upstream(record);
  ASSERT_TRUE(found.verdict);
  EXPECT_EQ(*found.verdict, (Verdict{Status::Correct, -7, 2}));
}

TEST(UpstreamRules, DoNotSeeBudgetsInputsNullModelsAndFloors) {
  RunRecord record = record_of("a", 2, {output_of("float32", -5)});
  record.outputs[0].budget = broken_budget("spikes");
  record.inputs.push_back({"x", output_of("float32", 6)});
  record.null_models = {"zeros"};
  record.floor = Floor{};
  record.floor->us = 1e9;
  ASSERT_FALSE(judge(record).correct_at(kCorrectT));
  EXPECT_EQ(*judge_by_upstream(record).verdict, (Verdict{Status::Correct, -5, 2}));
}

TEST(UpstreamRules, DoNotCompareTimedCalls) {
  RunRecord record = record_of("a", 2, {output_of("float32", 6)});
  record.outputs[0].budget = broken_budget(kTimedCalls);
  record.outputs[0].checked_from = -7;
  EXPECT_EQ(*judge_by_upstream(record).verdict, (Verdict{Status::Correct, -7, 2})) << "only wrong when timed";
}

TEST(UpstreamRules, TimesAreNotInvented) {
  RunRecord record = record_of("a", 2, {output_of("float32", -5)});
  record.stage = Stage::Time;
  record.error_kind = "not-at-rest";
  record.reference = record.candidate = {};
  EXPECT_EQ(judge_by_upstream(record).why, NotJudged::Untimed);
  record.outputs[0].passes_from = 6;
  ASSERT_TRUE(judge_by_upstream(record).verdict) << "what is wrong needs no time";
  EXPECT_EQ(judge_by_upstream(record).verdict->status, Status::Correct);
}

TEST(UpstreamRules, SayNothingOfWhatOurChecksEnded) {
  for (const char* kind : {"out-of-bounds", "unwritten-output", "input-changed", "internal"})
    EXPECT_EQ(judge_by_upstream(failed_record("a", Stage::Run, kind, "")).why, NotJudged::Uncompared) << kind;
  EXPECT_EQ(judge_by_upstream(failed_record("a", Stage::Build, "resource", "")).why, NotJudged::MachineFailed);
}

TEST(UpstreamRules, TellShapesFromTypesAndCrashes) {
  RunRecord shape = record_of("a", 2, {output_of("float32", 6)});
  shape.outputs[0].found_shape = {3, 2};
  EXPECT_EQ(judge_by_upstream(shape).verdict->status, Status::ShapeMismatch);
  RunRecord dtype = record_of("a", 2, {output_of("float32", 6)});
  dtype.outputs[0].found_dtype = "float16";
  EXPECT_EQ(judge_by_upstream(dtype).verdict->status, Status::TypeMismatch);
  EXPECT_EQ(judge_by_upstream(failed_record("a", Stage::Run, "timeout", "")).verdict->status, Status::RuntimeFail);
}

TEST(UpstreamRules, ADeclinedGraphIsNoMatch) {
  RunRecord record = failed_record("a", Stage::Done, "", "");
  record.passes = {{"fuse", 0, 1, ""}};
  EXPECT_EQ(judge_by_upstream(record).verdict->status, Status::EagerFail);
}

}  // namespace
}  // namespace passnet::record
