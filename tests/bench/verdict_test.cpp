#include "bench/verdict.h"

#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>
#include <functional>

#include "example_records.h"

namespace passnet::bench {
namespace {

RunRecord good() { return record_of("g", 2, {output_of("float32", -10), output_of("int64", -10)}); }

RunRecord changed(const std::function<void(RunRecord&)>& change) {
  RunRecord record = good();
  change(record);
  return record;
}

TEST(Judge, TellsTheSpeedupAndTheRungOfAGoodGraph) {
  const Verdict verdict = judge(record_of("g", 2, {output_of("float32", -6), output_of("float32", -9)}));
  EXPECT_EQ(verdict.status, Status::Correct);
  EXPECT_EQ(verdict.passes_from, -6);
  EXPECT_DOUBLE_EQ(verdict.speedup, 2);
  EXPECT_FALSE(verdict.correct_at(-7));
  EXPECT_TRUE(verdict.correct_at(-6));
}

TEST(Judge, DividesMedians) {
  RunRecord record = good();
  record.reference.trials_us = {10, 30, 20, 1000};
  record.candidate.trials_us = {5, 900, 5};
  EXPECT_DOUBLE_EQ(judge(record).speedup, 5);
}

struct Case {
  const char* what;
  RunRecord record;
  Status status;
  const char* headline;
};

std::vector<Case> cases() {
  const auto stopped = [](Stage stage, const char* kind) { return failed_record("g", stage, kind, "why"); };
  return {
      {"parse", stopped(Stage::Parse, "bad-input"), Status::EagerFail, "bad graph"},
      {"inputs", stopped(Stage::Inputs, "bad-input"), Status::EagerFail, "bad inputs"},
      {"reference", stopped(Stage::Reference, "unsupported"), Status::EagerFail, "eager failed"},
      {"reference timed out", stopped(Stage::Reference, "timeout"), Status::EagerFail, "timed out"},
      {"no match", stopped(Stage::Match, "no-match"), Status::EagerFail, "no match"},
      {"pass outside the language", stopped(Stage::Match, "bad-pass"), Status::CompileFail, "bad pass"},
      {"kernel does not compile", stopped(Stage::Build, "bad-pass"), Status::CompileFail, "build failed"},
      {"load", stopped(Stage::Load, "bad-input"), Status::CompileFail, "load failed"},
      {"crash", stopped(Stage::Run, "crash"), Status::RuntimeFail, "crashed"},
      {"timeout", stopped(Stage::Run, "timeout"), Status::RuntimeFail, "timed out"},
      {"bounds", stopped(Stage::Run, "out-of-bounds"), Status::RuntimeFail, "out of bounds"},
      {"unwritten", stopped(Stage::Run, "unwritten-output"), Status::RuntimeFail, "unwritten"},
      {"inputs changed", stopped(Stage::Run, "input-changed"), Status::RuntimeFail, "input changed"},
      {"run", stopped(Stage::Run, "io"), Status::RuntimeFail, "run failed"},
      {"full device", stopped(Stage::Run, "resource"), Status::RuntimeFail, "no resources"},
      {"compare broke", stopped(Stage::Compare, "crash"), Status::RuntimeFail, "crashed"},
      {"good", good(), Status::Correct, "correct"},
      {"late", changed([](RunRecord& r) { r.outputs[0].passes_from = -4; }), Status::Correct, "inexact"},
      {"never", changed([](RunRecord& r) { r.outputs[0].passes_from = 6; }), Status::Correct, "wrong"},
      {"count", changed([](RunRecord& r) { r.found_outputs = 1; }), Status::ShapeMismatch, "wrong count"},
      {"shape", changed([](RunRecord& r) {
         r.outputs[0].found_shape = {3, 2};
       }),
       Status::ShapeMismatch, "wrong shape"},
      {"broadcast", changed([](RunRecord& r) { r.outputs[0].found_shape = {1}; }), Status::ShapeMismatch,
       "wrong shape"},
      {"dtype", changed([](RunRecord& r) { r.outputs[1].found_dtype = "int32"; }), Status::TypeMismatch,
       "wrong dtype"},
      {"unstable", changed([](RunRecord& r) { r.deterministic = false; }), Status::RuntimeFail, "unstable"},
      {"timing broke", changed([](RunRecord& r) { r.stage = Stage::Time, r.error_kind = "crash"; }),
       Status::RuntimeFail, "crashed"},
      {"nothing to compare", record_of("g", 2, {}), Status::RuntimeFail, "no outputs"},
  };
}

TEST(Judge, MapsEveryWayToFail) {
  for (const Case& one : cases())
    EXPECT_STREQ(to_string(judge(one.record).status), to_string(one.status)) << one.what;
}

TEST(Headline, NamesEveryWayToFailInFewCharacters) {
  for (const Case& one : cases()) {
    EXPECT_EQ(headline(one.record), one.headline) << one.what;
    EXPECT_LE(headline(one.record).size(), 14u);
  }
}

TEST(Judge, GivesNoSpeedupToAnythingThatIsNotCorrect) {
  for (const Case& one : cases()) {
    if (one.status == Status::Correct) continue;
    EXPECT_EQ(judge(one.record).speedup, 0) << one.what;
  }
}

TEST(Judge, NeverLetsAnImpossibleTimeWin) {
  for (double impossible : {0.0, -1.0, 1e-12, 0.0099, double(NAN), double(INFINITY), -double(INFINITY)}) {
    for (Timing RunRecord::*side : {&RunRecord::reference, &RunRecord::candidate}) {
      RunRecord record = good();
      (record.*side).trials_us[1] = impossible;  // one such trial spoils the list
      EXPECT_EQ(judge(record), (Verdict{Status::RuntimeFail, 6, 0})) << impossible;
      EXPECT_EQ(headline(record), "bad times") << impossible;
    }
  }
}

TEST(Judge, NeedsTimesOfBothSides) {
  RunRecord record = good();
  record.candidate.trials_us.clear();
  EXPECT_EQ(judge(record), (Verdict{Status::RuntimeFail, 6, 0}));
}

TEST(Judge, LeavesAGraphThatWasOnlyCheckedCorrectWithoutSpeedup) {
  RunRecord record = good();
  record.reference = record.candidate = {};
  EXPECT_EQ(judge(record), (Verdict{Status::Correct, -10, 0}));
  EXPECT_EQ(headline(record), "correct");
}

TEST(Judge, TakesADeclinedGraphByItsOwnMeasurement) {
  RunRecord record = good();
  record.passes = {{"fuse", 0, 3, "declined: x is not contiguous"}};
  EXPECT_EQ(judge(record).status, Status::Correct);
  EXPECT_DOUBLE_EQ(judge(record).speedup, 2);
}

TEST(Noise, IsFlaggedWhenOneSideSpreads) {
  EXPECT_FALSE(is_noisy(good()));
  RunRecord record = good();
  record.candidate.trials_us = {1, 2, 3, 4, 5};
  EXPECT_TRUE(is_noisy(record));
  record.candidate = {};
  EXPECT_FALSE(is_noisy(record));
}

RC_GTEST_PROP(Judge, IsMonotoneInTolerance, ()) {
  const Verdict verdict = judge(*any_record());
  for (int t = kFirstT; t < kLastNumericT; ++t)
    RC_ASSERT(!verdict.correct_at(t) || verdict.correct_at(t + 1));
}

RC_GTEST_PROP(Judge, DoesNotDependOnTheOrderOfOutputsOrTrials, ()) {
  RunRecord record = *any_record();
  const Verdict before = judge(record);
  std::reverse(record.outputs.begin(), record.outputs.end());
  std::reverse(record.candidate.trials_us.begin(), record.candidate.trials_us.end());
  RC_ASSERT(judge(record) == before);
}

}  // namespace
}  // namespace passnet::bench
