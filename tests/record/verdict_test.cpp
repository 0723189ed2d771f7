#include "record/verdict.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <algorithm>
#include <cmath>
#include <filesystem>
#include <functional>
#include <optional>
#include <sstream>

#include "base/file/file.h"
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

/// A table: a line a case.
std::vector<Case> cases() {
  const auto stopped = [](Stage stage, const char* kind) { return failed_record("g", stage, kind, "why"); };
  return {
      {"parse", stopped(Stage::Parse, "bad-input"), Status::EagerFail, "parse: failed"},
      {"inputs", stopped(Stage::Inputs, "bad-input"), Status::EagerFail, "inputs: failed"},
      {"reference", stopped(Stage::Reference, "unsupported"), Status::EagerFail, "reference: unsupported"},
      {"reference timed out", stopped(Stage::Reference, "timeout"), Status::EagerFail, "reference: timed out"},
      {"unknown operator", stopped(Stage::Parse, "unsupported"), Status::EagerFail, "parse: unsupported"},
      {"no pass_dir", stopped(Stage::Match, "bad-input"), Status::CompileFail, "match: bad pass"},
      {"strides that do not fit", stopped(Stage::Match, "bad-rewrite"), Status::CompileFail, "match: bad pass"},
      {"no compiler", stopped(Stage::Build, "resource"), Status::CompileFail, "build: no resources"},
      {"no match", stopped(Stage::Match, "no-match"), Status::EagerFail, "match: no site"},
      {"pass outside the language", stopped(Stage::Match, "bad-pass"), Status::CompileFail, "match: bad pass"},
      {"kernel does not compile", stopped(Stage::Build, "bad-pass"), Status::CompileFail, "build: failed"},
      {"load", stopped(Stage::Load, "bad-input"), Status::CompileFail, "load: failed"},
      {"crash", stopped(Stage::Run, "crash"), Status::RuntimeFail, "run: crashed"},
      {"timeout", stopped(Stage::Run, "timeout"), Status::RuntimeFail, "run: timed out"},
      {"bounds", stopped(Stage::Run, "out-of-bounds"), Status::RuntimeFail, "run: out of bounds"},
      {"memory", stopped(Stage::Run, "memory"), Status::RuntimeFail, "run: out of memory"},
      {"unwritten", stopped(Stage::Run, "unwritten-output"), Status::RuntimeFail, "run: unwritten"},
      {"inputs changed", stopped(Stage::Run, "input-changed"), Status::RuntimeFail, "run: input changed"},
      {"no memory", stopped(Stage::Run, "resource"), Status::RuntimeFail, "run: no resources"},
      {"run", stopped(Stage::Run, "bad-input"), Status::RuntimeFail, "run: failed"},
      {"compare broke", stopped(Stage::Compare, "crash"), Status::RuntimeFail, "compare: crashed"},
      {"good", good(), Status::Correct, "correct"},
      {"late", changed([](RunRecord& r) { r.outputs[0].passes_from = -4; }), Status::Correct, "inexact"},
      {"just inexact", changed([](RunRecord& r) { r.outputs[0].passes_from = -3; }), Status::Correct, "inexact"},
      {"just wrong", changed([](RunRecord& r) { r.outputs[0].passes_from = -2; }), Status::Correct, "wrong"},
      {"never", changed([](RunRecord& r) { r.outputs[0].passes_from = 6; }), Status::Correct, "wrong"},
      {"count", changed([](RunRecord& r) { r.found_outputs = 1; }), Status::ShapeMismatch, "wrong shape"},
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
       Status::ShapeMismatch, "wrong layout"},
      {"a view of an input where a copy was", changed([](RunRecord& r) {
         r.outputs[0].expected_layout = record::Layout{{3, 1}, 0, ""};
         r.outputs[0].found_layout = record::Layout{{3, 1}, 0, "input x"};
       }),
       Status::ShapeMismatch, "wrong layout"},
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
      {"unstable", changed([](RunRecord& r) { r.deterministic = false; }), Status::RuntimeFail, "time: failed"},
      {"timing broke", changed([](RunRecord& r) { r.stage = Stage::Time, r.error_kind = "crash"; }),
       Status::RuntimeFail, "time: crashed"},
      {"faster than the machine can be", changed([](RunRecord& r) {
         r.floor = Floor{1 << 20, 10, 1e6};
       }),
       Status::Correct, "unranked"},
      {"a cell that does not rest", changed([](RunRecord& r) { r.stage = Stage::Time, r.error_kind = "not-at-rest"; }),
       Status::RuntimeFail, "time: not at rest"},
      {"a clock that lies", changed([](RunRecord& r) { r.stage = Stage::Time, r.error_kind = "clock"; }),
       Status::RuntimeFail, "time: bad times"},
      {"nothing to compare", record_of("g", 2, {}), Status::RuntimeFail, "compare: failed"},
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

TEST(Headline, NamesEveryWayToFail) {
  for (const Case& one : cases()) {
    EXPECT_EQ(headline(one.record), one.headline) << one.what;
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
  EXPECT_THAT(documented_words(), testing::UnorderedElementsAreArray(verdict_words()));
  EXPECT_EQ(verdict_words().size(), 25u);
}

constexpr Stage kStages[] = {Stage::Parse, Stage::Inputs, Stage::Reference, Stage::Match, Stage::Build,
                             Stage::Load,  Stage::Run,    Stage::Compare,   Stage::Time};

TEST(Headline, TellsStageAndKind) {
  for (const Stage stage : kStages) {
    const std::string name = to_string(stage);
    EXPECT_EQ(headline(failed_record("g", stage, "crash", "why")), name + ": crashed");
    EXPECT_EQ(headline(failed_record("g", stage, "timeout", "why")), name + ": timed out");
    EXPECT_EQ(headline(failed_record("g", stage, "not a kind", "why")), name + ": failed");
  }
  EXPECT_EQ(headline(failed_record("g", Stage::Done, "crash", "why")), "bad record");
}

TEST(Headline, IsNamedByItselfAndItsKind) {
  for (const Case& one : cases()) {
    const std::string whole = one.headline,
                      kind = whole.substr(whole.find(": ") == std::string::npos ? 0 : whole.find(": ") + 2);
    EXPECT_EQ(verdict_named(whole), whole);
    EXPECT_EQ(verdict_named(kind), kind);
    EXPECT_TRUE(is_named(whole, whole) && is_named(whole, kind)) << whole;
  }
  EXPECT_FALSE(is_named("wrong shape", "shape"));
  EXPECT_FALSE(is_named("run: timed out", "out"));
  for (const char* word :
       {"", "worng", "run", "run: ", "build: not at rest: failed", "run: library call", "done: failed"})
    EXPECT_EQ(verdict_named(word), std::nullopt) << word;
}

struct Former {
  const char* was;
  RunRecord record;
};

/// A table: a record for each word that verdicts had before there were stages in them.
std::vector<Former> former_records() {
  std::vector<Former> all;
  struct Cause {
    Stage stage;
    const char *kind, *was;
  };
  for (const Cause& one : {
           Cause{Stage::Run, "internal", "our bug"},
           Cause{Stage::Load, "nonsense", "bad reply"},
           Cause{Stage::Match, "io", "io error"},
           Cause{Stage::Inputs, "resource", "no resources"},
           Cause{Stage::Match, "no-match", "no match"},
           Cause{Stage::Compare, "killed", "killed"},
           Cause{Stage::Time, "out-of-bounds", "out of bounds"},
           Cause{Stage::Match, "memory", "out of memory"},
           Cause{Stage::Run, "unwritten-output", "unwritten"},
           Cause{Stage::Run, "input-changed", "input changed"},
           Cause{Stage::Time, "not-at-rest", "not at rest"},
           Cause{Stage::Reference, "unsupported", "unsupported"},
           Cause{Stage::Parse, "crash", "parse crash"},
           Cause{Stage::Parse, "timeout", "parse hang"},
           Cause{Stage::Parse, "bad-input", "bad graph"},
           Cause{Stage::Inputs, "crash", "inputs crash"},
           Cause{Stage::Inputs, "timeout", "inputs hang"},
           Cause{Stage::Inputs, "bad-input", "bad inputs"},
           Cause{Stage::Reference, "crash", "eager crash"},
           Cause{Stage::Reference, "timeout", "eager hang"},
           Cause{Stage::Reference, "bad-input", "eager failed"},
           Cause{Stage::Match, "library-call", "library call"},
           Cause{Stage::Match, "bad-pass", "bad pass"},
           Cause{Stage::Match, "bad-input", "bad pass list"},
           Cause{Stage::Match, "bad-rewrite", "bad rewrite"},
           Cause{Stage::Match, "unsupported", "pass conflict"},
           Cause{Stage::Match, "crash", "trace crash"},
           Cause{Stage::Match, "timeout", "trace hang"},
           Cause{Stage::Match, "other", "match failed"},
           Cause{Stage::Build, "resource", "build stopped"},
           Cause{Stage::Build, "bad-pass", "build failed"},
           Cause{Stage::Load, "crash", "load crash"},
           Cause{Stage::Load, "timeout", "load hang"},
           Cause{Stage::Load, "bad-input", "load failed"},
           Cause{Stage::Run, "crash", "crashed"},
           Cause{Stage::Run, "timeout", "timed out"},
           Cause{Stage::Run, "bad-input", "run failed"},
           Cause{Stage::Compare, "crash", "compare crash"},
           Cause{Stage::Compare, "timeout", "compare hang"},
           Cause{Stage::Compare, "bad-input", "compare failed"},
           Cause{Stage::Time, "clock", "clocks differ"},
           Cause{Stage::Time, "crash", "timing crash"},
           Cause{Stage::Time, "timeout", "timing hang"},
           Cause{Stage::Time, "bad-input", "timing failed"},
           Cause{Stage::Done, "bad-input", "bad record"},
       })
    all.push_back({one.was, failed_record("g", one.stage, one.kind, "why")});
  const auto with_layout = [](const char* shares) {
    return changed([&](RunRecord& r) {
      r.outputs[0].expected_layout = Layout{{3, 1}, 0, ""};
      r.outputs[0].found_layout = Layout{{1, 2}, 0, shares};
    });
  };
  all.push_back({"wrong count", changed([](RunRecord& r) { r.found_outputs = 1; })});
  all.push_back({"wrong strides", with_layout("")});
  all.push_back({"wrong aliasing", with_layout("input x")});
  all.push_back({"unstable", changed([](RunRecord& r) { r.deterministic = false; })});
  all.push_back({"not compared", changed([](RunRecord& r) { r.outputs_counted = false; })});
  all.push_back({"no outputs", record_of("g", 2, {})});
  all.push_back({"bad times", changed([](RunRecord& r) { r.candidate.trials_us = {0}; })});
  all.push_back({"below floor", changed([](RunRecord& r) { r.floor = Floor{1 << 20, 10, 1e6}; })});
  return all;
}

TEST(VerdictNamed, ReadsRecordsOfEachFormerWord) {
  for (const Former& one : former_records()) {
    const Result<std::vector<RunRecord>> read = records_from_text(to_lines({one.record}), "records.jsonl");
    ASSERT_TRUE(read) << one.was;
    const std::optional<std::string> now = verdict_named(one.was);
    ASSERT_TRUE(now) << one.was;
    EXPECT_TRUE(is_named(headline(read->front()), *now)) << one.was << ": " << headline(read->front());
    EXPECT_EQ(verdict_named(*now), now) << "a former word again";
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
      EXPECT_EQ(headline(record), "time: bad times") << impossible;
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
