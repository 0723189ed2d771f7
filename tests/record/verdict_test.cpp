#include "record/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <set>
#include <sstream>

#include "base/file.h"
#include "example_records.h"
#include "tests/paths.h"

namespace passnet::record {
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

/// A budget of 1 in every figure, of which `norm` is used.
ErrorBudget used(const char* profile, double norm) {
  ErrorBudget budget{profile, {}, {1, 1, 1, 1, 1}, {}};
  budget.found.norm = norm;
  return budget;
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
      {"reference", stopped(Stage::Reference, "unsupported"), Status::EagerFail, "unsupported"},
      {"reference timed out", stopped(Stage::Reference, "timeout"), Status::EagerFail, "eager hang"},
      {"unknown operator", stopped(Stage::Parse, "unsupported"), Status::EagerFail, "unsupported"},
      {"no pass_dir", stopped(Stage::Match, "bad-input"), Status::CompileFail, "bad pass list"},
      {"strides that do not fit", stopped(Stage::Match, "bad-rewrite"), Status::CompileFail, "bad rewrite"},
      {"no compiler", stopped(Stage::Build, "resource"), Status::CompileFail, "build stopped"},
      {"no match", stopped(Stage::Match, "no-match"), Status::EagerFail, "no match"},
      {"pass outside the language", stopped(Stage::Match, "bad-pass"), Status::CompileFail, "bad pass"},
      {"kernel does not compile", stopped(Stage::Build, "bad-pass"), Status::CompileFail, "build failed"},
      {"load", stopped(Stage::Load, "bad-input"), Status::CompileFail, "load failed"},
      {"crash", stopped(Stage::Run, "crash"), Status::RuntimeFail, "crashed"},
      {"timeout", stopped(Stage::Run, "timeout"), Status::RuntimeFail, "timed out"},
      {"bounds", stopped(Stage::Run, "out-of-bounds"), Status::RuntimeFail, "out of bounds"},
      {"memory", stopped(Stage::Run, "memory"), Status::RuntimeFail, "out of memory"},
      {"unwritten", stopped(Stage::Run, "unwritten-output"), Status::RuntimeFail, "unwritten"},
      {"inputs changed", stopped(Stage::Run, "input-changed"), Status::RuntimeFail, "input changed"},
      {"no memory", stopped(Stage::Run, "resource"), Status::RuntimeFail, "no resources"},
      {"run", stopped(Stage::Run, "bad-input"), Status::RuntimeFail, "run failed"},
      {"compare broke", stopped(Stage::Compare, "crash"), Status::RuntimeFail, "compare crash"},
      {"good", good(), Status::Correct, "correct"},
      {"late", changed([](RunRecord& r) { r.outputs[0].passes_from = -4; }), Status::Correct, "inexact"},
      {"just inexact", changed([](RunRecord& r) { r.outputs[0].passes_from = -3; }), Status::Correct, "inexact"},
      {"just wrong", changed([](RunRecord& r) { r.outputs[0].passes_from = -2; }), Status::Correct, "wrong"},
      {"never", changed([](RunRecord& r) { r.outputs[0].passes_from = 6; }), Status::Correct, "wrong"},
      {"count", changed([](RunRecord& r) { r.found_outputs = 1; }), Status::ShapeMismatch, "wrong count"},
      {"shape", changed([](RunRecord& r) {
         r.outputs[0].found_shape = {3, 2};
       }),
       Status::ShapeMismatch, "wrong shape"},
      {"broadcast", changed([](RunRecord& r) { r.outputs[0].found_shape = {1}; }), Status::ShapeMismatch,
       "wrong shape"},
      {"dtype", changed([](RunRecord& r) { r.outputs[1].found_dtype = "int32"; }), Status::TypeMismatch, "wrong dtype"},
      {"strides", changed([](RunRecord& r) {
         r.outputs[0].expected_layout = record::Layout{{3, 1}, 0, ""};
         r.outputs[0].found_layout = record::Layout{{1, 2}, 0, ""};
       }),
       Status::ShapeMismatch, "wrong strides"},
      {"a view of an input where a copy was", changed([](RunRecord& r) {
         r.outputs[0].expected_layout = record::Layout{{3, 1}, 0, ""};
         r.outputs[0].found_layout = record::Layout{{3, 1}, 0, "input x"};
       }),
       Status::ShapeMismatch, "wrong aliasing"},
      {"an input left as it was", changed([](RunRecord& r) {
         r.inputs.push_back({"x", r.outputs[0]});
         r.inputs[0].check.passes_from = 6;
       }),
       Status::Correct, "wrong"},
      {"within its budget, whatever the rung", changed([](RunRecord& r) {
         r.outputs[0].passes_from = 0;
         r.outputs[0].budget = used("wide", 1);
       }),
       Status::Correct, "correct"},
      {"beyond its budget at a good rung", changed([](RunRecord& r) { r.outputs[0].budget = used("recorded", 1.1); }),
       Status::Correct, "inexact"},
      {"far beyond it", changed([](RunRecord& r) {
         r.outputs[0].budget = used("recorded", 1.1);
         r.outputs[0].budget->found.row = 0.5;
       }),
       Status::Correct, "wrong"},
      {"beyond it on other values", changed([](RunRecord& r) { r.outputs[0].budget = used("spikes", 1.1); }),
       Status::Correct, "wrong"},
      {"an input beyond its budget", changed([](RunRecord& r) {
         r.inputs.push_back({"x", r.outputs[0]});
         r.inputs[0].check.budget = used("normal", 2);
       }),
       Status::Correct, "wrong"},
      {"what takes no work is right too", changed([](RunRecord& r) { r.null_models = {"zeros"}; }), Status::Correct,
       "unranked"},
      {"what has an input built in is right too", changed([](RunRecord& r) { r.fixed_inputs = {"gate"}; }),
       Status::Correct, "unranked"},
      {"wrong where what takes no work is right", changed([](RunRecord& r) {
         r.null_models = {"zeros"};
         r.outputs[0].passes_from = 6;
       }),
       Status::Correct, "wrong"},
      {"other bits in the calls that were compared", changed([](RunRecord& r) {
         r.deterministic = false;
         r.calls_compared = 100;
       }),
       Status::Correct, "correct"},
      {"unstable", changed([](RunRecord& r) { r.deterministic = false; }), Status::RuntimeFail, "unstable"},
      {"timing broke", changed([](RunRecord& r) { r.stage = Stage::Time, r.error_kind = "crash"; }),
       Status::RuntimeFail, "timing crash"},
      {"faster than the machine can be", changed([](RunRecord& r) {
         r.floor = Floor{1 << 20, 10, 1e6};
       }),
       Status::Correct, "below floor"},
      {"a cell that does not rest", changed([](RunRecord& r) { r.stage = Stage::Time, r.error_kind = "not-at-rest"; }),
       Status::RuntimeFail, "not at rest"},
      {"a clock that lies", changed([](RunRecord& r) { r.stage = Stage::Time, r.error_kind = "clock"; }),
       Status::RuntimeFail, "clocks differ"},
      {"nothing to compare", record_of("g", 2, {}), Status::RuntimeFail, "no outputs"},
  };
}

TEST(Judge, MapsEveryWayToFail) {
  for (const Case& one : cases()) EXPECT_STREQ(to_string(judge(one.record).status), to_string(one.status)) << one.what;
}

TEST(Judge, GivesAGraphWithinItsBudgetTheRungOfCorrectAtLeast) {
  RunRecord record = good();
  record.outputs[0].passes_from = -2;
  record.outputs[0].budget = used("recorded", 0.5);
  EXPECT_EQ(judge(record).passes_from, kCorrectT);
  record.outputs[0].passes_from = -8;
  EXPECT_EQ(judge(record).passes_from, -8);
  record.outputs[0].budget = used("recorded", std::nan(""));
  EXPECT_EQ(judge(record).passes_from, 6) << "what cannot be told is not right";
}

TEST(Headline, NamesEveryWayToFailInFewCharacters) {
  for (const Case& one : cases()) {
    EXPECT_EQ(headline(one.record), one.headline) << one.what;
    EXPECT_LE(headline(one.record).size(), 14u);
  }
}

/// The words that docs/verdicts.md explains: those of its "### " headings, and of the first cells of tables that are
/// headed "verdict", "a, b" two of them.
std::vector<std::string> documented_words() {
  const auto page = read_file(tests::source_dir() / "docs/verdicts.md", FileKind::Lines);
  if (!page) return {};
  std::vector<std::string> words;
  bool in_table = false;
  std::istringstream lines(*page);
  for (std::string line; std::getline(lines, line);) {
    if (line.starts_with("### ")) words.push_back(line.substr(4));
    if (!line.starts_with("| ")) {
      in_table = in_table && line.starts_with("|--");
    } else if (in_table) {
      EXPECT_EQ(std::ranges::count(line, '|'), 4) << line;
      std::istringstream cell(line.substr(2, line.find(" | ") - 2));
      for (std::string word; std::getline(cell >> std::ws, word, ',');) words.push_back(word);
    } else {
      in_table = line == "| verdict | what happened | what to do |";
    }
  }
  return words;
}

TEST(Headline, IsExplainedOnceForEachOfItsWords) {
  EXPECT_THAT(documented_words(), testing::UnorderedElementsAreArray(all_headlines()));
}

TEST(Headline, TellsEveryStageAndKindFromEveryOther) {
  constexpr Stage kStages[] = {Stage::Parse, Stage::Inputs, Stage::Reference, Stage::Match, Stage::Build,
                               Stage::Load,  Stage::Run,    Stage::Compare,   Stage::Time};
  for (const char* kind : {"crash", "timeout"}) {
    std::set<std::string> words;
    for (const Stage stage : kStages) words.insert(headline(failed_record("g", stage, kind, "why")));
    EXPECT_EQ(words.size(), std::size(kStages)) << kind;
  }
}

TEST(Headline, GivesOnlyWordsThatAreListed) {
  const std::vector<std::string> words = all_headlines();
  EXPECT_EQ(std::set<std::string>(words.begin(), words.end()).size(), words.size());
  for (const Case& one : cases())
    EXPECT_NE(std::find(words.begin(), words.end(), one.headline), words.end()) << one.what;
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

TEST(Judge, CountsADeclinedGraphAsExactlyOneWhateverWasMeasured) {
  RunRecord record = good();
  record.passes = {{"fuse", 0, 3, ""}, {"other", 0, 0, "nearest miss"}};
  EXPECT_EQ(judge(record), (Verdict{Status::Correct, -10, 1}));
  EXPECT_EQ(headline(record), "declined");
  record.outputs.clear();
  record.outputs_counted = false;
  record.expected_outputs = record.found_outputs = 0;
  record.reference = record.candidate = {};
  EXPECT_EQ(judge(record), (Verdict{Status::Correct, -10, 1}));
}

TEST(Judge, MeasuresAGraphOfWhichOneSiteWasReplaced) {
  RunRecord record = good();
  record.passes = {{"fuse", 1, 3, ""}};
  EXPECT_DOUBLE_EQ(judge(record).speedup, 2);
  EXPECT_EQ(headline(record), "correct");
}

TEST(Judge, TakesNoFailureForDeclined) {
  RunRecord record = failed_record("g", Stage::Match, "bad-pass", "why");
  record.passes = {{"fuse", 0, 3, ""}};
  EXPECT_EQ(judge(record).status, Status::CompileFail);
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
  for (int t = kFirstT; t < kLastNumericT; ++t) RC_ASSERT(!verdict.correct_at(t) || verdict.correct_at(t + 1));
}

RC_GTEST_PROP(Judge, DoesNotDependOnTheOrderOfOutputsOrTrials, ()) {
  RunRecord record = *any_record();
  const Verdict before = judge(record);
  std::reverse(record.outputs.begin(), record.outputs.end());
  std::reverse(record.candidate.trials_us.begin(), record.candidate.trials_us.end());
  RC_ASSERT(judge(record) == before);
}

}  // namespace
}  // namespace passnet::record
