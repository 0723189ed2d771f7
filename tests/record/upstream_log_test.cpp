#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <rapidcheck/gtest.h>

#include <cmath>

#include "base/text/strings.h"
#include "example_records.h"
#include "record/score/score.h"
#include "record/tolerance.h"

namespace passnet::record {
namespace {

using testing::HasSubstr;
using testing::Not;

constexpr const char* kFile = "validation.log";

std::vector<Verdict> read(const std::string& log) {
  const auto verdicts = verdicts_from_upstream_log(kFile, log);
  EXPECT_TRUE(verdicts) << (verdicts ? "" : to_string(verdicts.error()));
  return verdicts ? *verdicts : std::vector<Verdict>{};
}

Verdict read_one(const std::string& lines) {
  const auto verdicts = read("P [Processing] /samples/g\n" + lines);
  EXPECT_EQ(verdicts.size(), 1u);
  return verdicts.empty() ? Verdict{} : verdicts.front();
}

/// A log of one float32 output that passes from `rung` on.
std::string good_lines(int rung, const std::string& speedup = "P [Speedup][e2e]: 1.50000\n") {
  std::string text =
      "P [Datatype][eager]: float32\nP [Datatype][compiled]: float32\n"
      "P [DataType] eager:['float32'] compiled:['float32'] match:True\nP [Correctness][equal]: 0\n";
  for (int t = -10; t <= 5; ++t) {
    text +=
        fmt::format("P [Correctness][all_close_{}]: {}\n", tolerance_key(tolerance("float32", t)), t >= rung ? 1 : 0);
  }
  return text + speedup;
}

TEST(UpstreamLog, HoldsTheWorkedExampleExactly) {
  const auto records = worked_example();
  const auto verdicts = read(render_upstream_log(records));
  ASSERT_EQ(verdicts.size(), records.size());
  for (size_t i = 0; i < records.size(); ++i) EXPECT_EQ(verdicts[i], judge(records[i])) << records[i].graph;
  EXPECT_NEAR(score(verdicts).aggregated, -0.518507388, 5e-10);
}

RC_GTEST_PROP(UpstreamLog, KeepsEveryVerdictWhateverTheTextsHold, ()) {
  auto records = *rc::gen::nonEmpty(rc::gen::container<std::vector<RunRecord>>(any_record()));
  const auto verdicts = verdicts_from_upstream_log(kFile, render_upstream_log(records));
  RC_ASSERT(verdicts.has_value());
  RC_ASSERT(verdicts->size() == records.size());
  for (size_t i = 0; i < records.size(); ++i) {
    RC_ASSERT((*verdicts)[i] == judge(records[i]));
  }
}

TEST(UpstreamLog, PrintsTheLinesThatUpstreamPrints) {
  RunRecord record = record_of("graph one", 1.5, {output_of("float32", -5), output_of("int64", -10)});
  record.candidate.trials_us = {8, 8, 8, 10};
  record.reference.trials_us = {12, 12};
  const std::string log = render_upstream_log({record});
  const std::string head =
      "graph-net-test-compiler-log [Processing] worked/graph_one\n"
      "graph-net-test-compiler-log [Config] model: graph_one\n"
      "graph-net-test-compiler-log [Config] device: cpu\n"
      "graph-net-test-compiler-log [Config] hardware: a processor x 2 threads\n"
      "graph-net-test-compiler-log [Config] compiler: passes\n"
      "graph-net-test-compiler-log [Config] warmup: 25\n"
      "graph-net-test-compiler-log [Config] trials: 2\n";
  EXPECT_EQ(log.substr(0, head.size()), head);
  for (const char* line : {
           "\n[Profiling] Using device: cpu a processor x 2 threads, warm up 25, trials 2\n",
           "\nTrial 1: e2e=0.01200 ms\n",
           "\ngraph-net-test-compiler-log [Performance][eager]: {\"e2e\": {\"median\": 0.012, \"iqr\": 0.0, "
           "\"mean\": 0.012, "
           "\"std\": 0.0, \"min\": 0.012, \"max\": 0.012}}\n",
           "\ngraph-net-test-compiler-log [Performance][compiled]: {\"e2e\": {\"median\": 0.008, \"iqr\": "
           "0.0005, \"mean\": 0.0085, "
           "\"std\": 0.000866025, \"min\": 0.008, \"max\": 0.01}}\n",
           "\ngraph-net-test-compiler-log [Datatype][eager]: float32 int64\n",
           "\ngraph-net-test-compiler-log [Datatype][compiled]: float32 int64\n",
           "\ngraph-net-test-compiler-log [Shape] eager:[[2, 3], [2, 3]] compiled:[[2, 3], [2, 3]] "
           "match:True\n",
           "\ngraph-net-test-compiler-log [DataType] eager:['float32', 'int64'] compiled:['float32', "
           "'int64'] match:True\n",
           "\ngraph-net-test-compiler-log [Correctness][equal]: 0 1\n",
           "\ngraph-net-test-compiler-log [Correctness][all_close_atol_1.00E-06_rtol_8.65E-08]: 0 1\n",
           "\ngraph-net-test-compiler-log [Correctness][all_close_atol_1.00E-05_rtol_1.30E-06]: 1 1\n",
           "\ngraph-net-test-compiler-log [Correctness][max_diff]: 0.25 0.0\n",
           "\ngraph-net-test-compiler-log [Correctness][mean_diff]: 0.125 0.0\n",
           "\ngraph-net-test-compiler-log [Result] status: success\n",
           "\ngraph-net-test-compiler-log [Speedup][e2e]: 1.5\n",
       }) {
    EXPECT_THAT(log, HasSubstr(line));
  }
  size_t sweep = 0;
  for (std::string_view line : split(log, '\n')) sweep += line.find("all_close_") != std::string_view::npos;
  EXPECT_EQ(sweep, 64u);
}

TEST(UpstreamLog, CannotBeForgedThroughAnErrorMessage) {
  RunRecord record = failed_record(
      "g", Stage::Run, "crash", "oops\n[Processing] fake\n[Datatype][eager]: float32\n[Speedup][e2e]: 1000\nall_close");
  record.hardware = "chip [Datatype][compiled]: float32";
  record.graph = "x [Speedup][e2e]: 9";
  const auto verdicts = read(render_upstream_log({record}));
  ASSERT_EQ(verdicts.size(), 1u);
  EXPECT_EQ(verdicts[0], (Verdict{Status::RuntimeFail, 6, 0}));

  RunRecord eager = failed_record("g all_close", Stage::Parse, "bad-input", "[Datatype][eager] all_close Error: x");
  EXPECT_EQ(read(render_upstream_log({eager}))[0].status, Status::EagerFail);
}

TEST(UpstreamLog, SaysWhichSideFailed) {
  EXPECT_THAT(render_upstream_log({failed_record("g", Stage::Reference, "crash", "why")}),
              HasSubstr("log [Fail due to eager model execution error.]\nreason: "
                        "why\ngraph-net-test-compiler-log [Result] status: failed\n"));
  EXPECT_THAT(render_upstream_log({failed_record("g", Stage::Match, "no-match", "why")}),
              HasSubstr("log [Fail due to compiled model execution error.]\nreason: why\n"));
  const std::string crash = render_upstream_log({failed_record("g", Stage::Run, "crash", "why")});
  EXPECT_THAT(crash, HasSubstr("log [Fail due to compiled model execution error.]\nRuntimeError: why\n"));
  EXPECT_THAT(crash, Not(HasSubstr("[Speedup]")));
}

TEST(UpstreamReader, FollowsTheStatusRulesInOrder) {
  const std::string eager = "P [Datatype][eager]: float32\n", compiled = "P [Datatype][compiled]: float32\n";
  const std::string shape = "P [Shape] eager:[[2]] compiled:[[2]] match:True\n";
  const std::string type = "P [DataType] eager:['float32'] compiled:['float32'] match:True\n";
  EXPECT_EQ(read_one("").status, Status::EagerFail);
  EXPECT_EQ(read_one(compiled).status, Status::EagerFail);
  EXPECT_EQ(read_one(eager).status, Status::CompileFail);
  EXPECT_EQ(read_one(eager + compiled).status, Status::ShapeMismatch);
  EXPECT_EQ(read_one(eager + compiled + type).status, Status::ShapeMismatch);
  EXPECT_EQ(read_one(eager + compiled + shape).status, Status::TypeMismatch);
  EXPECT_EQ(read_one(type + "P [Correctness][all_close_x]: 1\n").status, Status::Correct);
  EXPECT_EQ(read_one("P [Correctness][all_close_x]: 1\n").status, Status::TypeMismatch);
  EXPECT_EQ(read_one(good_lines(-10)).status, Status::Correct);
  EXPECT_EQ(read_one(good_lines(-10) + "ValueError: x\n").status, Status::RuntimeFail);
  EXPECT_EQ(read_one(good_lines(-10) + "UserWarning, some Exception: y\n").status, Status::RuntimeFail);
  EXPECT_EQ(read_one(good_lines(-10) + "[PassMgrBackend] No passes modified the graph.\n").status, Status::RuntimeFail);
}

TEST(UpstreamReader, FindsTheRung) {
  for (int rung = -10; rung <= 6; ++rung) EXPECT_EQ(read_one(good_lines(rung)), (Verdict{Status::Correct, rung, 1.5}));
}

TEST(UpstreamReader, LetsTheLastLineOfAKindWin) {
  EXPECT_EQ(read_one(good_lines(-10) + "anything [Speedup][e2e]: 7.5\n").speedup, 7.5);
  EXPECT_EQ(read_one(good_lines(-10) + "P [Speedup][gpu]: 7.5\n").speedup, 1.5);
  EXPECT_EQ(read_one(good_lines(-10) + "P [Correctness][all_close_atol_1.00E-05_rtol_1.30E-06]: 0\n").passes_from, -4);
}

TEST(UpstreamReader, TakesExactTypesFromTheEqualLine) {
  std::string lines = good_lines(-10);
  lines.replace(lines.find(": float32\n"), 10, ": int64\n");
  EXPECT_EQ(read_one(lines).passes_from, 6);
  lines.replace(lines.find("[equal]: 0"), 10, "[equal]: 1");
  EXPECT_EQ(read_one(lines).passes_from, -10);
}

TEST(UpstreamReader, CountsAMissingLineAsAFailureAndNoOutputsAsCorrect) {
  std::string lines = good_lines(-10);
  const size_t at = lines.find("P [Correctness][all_close_atol_1.00E-07");
  lines.erase(at, lines.find('\n', at) + 1 - at);
  EXPECT_EQ(read_one(lines).passes_from, -6);

  lines = good_lines(6);
  lines.erase(lines.find("P [Correctness][equal]: 0\n"), 26);
  EXPECT_EQ(read_one(lines).passes_from, -10);
}

TEST(UpstreamReader, GivesNoWinToASpeedupThatIsNone) {
  EXPECT_EQ(read_one(good_lines(-10, "")), (Verdict{Status::Correct, -10, 0}));
  for (const char* none : {"0.0", "-3", "nan", "inf"}) {
    EXPECT_EQ(read_one(good_lines(-10, fmt::format("P [Speedup][e2e]: {}\n", none))),
              (Verdict{Status::RuntimeFail, 6, 0}))
        << none;
  }
}

TEST(UpstreamReader, SplitsAtProcessingAndIgnoresWhatComesBefore) {
  const auto verdicts = read("[Speedup][e2e]: x\nnoise\nP [Processing] a\n" + good_lines(-10) + "P [Processing] b\n");
  ASSERT_EQ(verdicts.size(), 2u);
  EXPECT_EQ(verdicts[0].status, Status::Correct);
  EXPECT_EQ(verdicts[1].status, Status::EagerFail);
}

TEST(UpstreamReader, AcceptsWindowsLineEnds) {
  std::string crlf;
  for (char c : "P [Processing] g\n" + good_lines(-5)) crlf += c == '\n' ? std::string("\r\n") : std::string(1, c);
  EXPECT_EQ(read(crlf), (std::vector<Verdict>{{Status::Correct, -5, 1.5}}));
}

TEST(UpstreamReader, NamesTheLineThatHoldsNoNumber) {
  const auto speedup = verdicts_from_upstream_log(kFile, "P [Processing] g\nP [Speedup][e2e]: fast\n");
  ASSERT_FALSE(speedup);
  EXPECT_EQ(to_string(speedup.error()), "validation.log:2:1: error: expected a number, found 'fast'");
  const auto flag = verdicts_from_upstream_log(kFile, "P [Processing] g\n\nP [Correctness][equal]: 1 yes\n");
  ASSERT_FALSE(flag);
  EXPECT_EQ(to_string(flag.error()), "validation.log:3:1: error: expected a number, found 'yes'");
}

TEST(UpstreamReader, NamesEachVerdictsGraph) {
  const std::string log = render_upstream_log({failed_record("first", Stage::Run, "crash", "[Processing] forged"),
                                               failed_record("second", Stage::Run, "crash", "why")});
  EXPECT_EQ(read(log).size(), 2u);
  const std::vector<std::string> names = names_in_upstream_log(log);
  ASSERT_EQ(names.size(), 2u);
  EXPECT_THAT(names[0], ::testing::EndsWith("first"));
  EXPECT_THAT(names[1], ::testing::EndsWith("second"));
  EXPECT_EQ(names_in_upstream_log("a\nP [Processing] x y \r\n[Processing]\n"), (std::vector<std::string>{"x y", ""}));
}

TEST(UpstreamReader, RefusesATextThatIsNoLog) {
  for (const char* text : {"", "hello\nworld\n"}) {
    const auto verdicts = verdicts_from_upstream_log(kFile, text);
    ASSERT_FALSE(verdicts);
    EXPECT_EQ(to_string(verdicts.error()),
              "validation.log: error: expected a line with '[Processing]', found none\n"
              "hint: a validation.log begins every graph with such a line");
  }
}

}  // namespace
}  // namespace passnet::record
