#include "report/table.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "base/file/file.h"
#include "base/text/columns.h"
#include "base/text/strings.h"
#include "sample_records.h"

namespace passnet::report {
namespace {

using testing::HasSubstr;
using testing::Not;

std::string without_colors(const std::string& text) {
  return std::regex_replace(text, std::regex("\x1b\\[[0-9;]*m"), "");
}

/// The part above the first blank line after the rows: what must never be wider than the terminal.
std::string table_part(const std::string& text) { return text.substr(0, text.find("\ninexact in ")); }

TEST(Table, KeepsToTheWidthOfTheTerminal) {
  for (int width = 60; width <= 220; ++width) {
    const std::string text = table_part(render_table(sample_records(), width, false));
    for (std::string_view line : split(text, '\n')) {
      EXPECT_LE(columns(line), static_cast<size_t>(width)) << line;
    }
  }
}

TEST(Table, TakesNarrowAndImpossibleWidthsAsSixty) {
  const std::string sixty = render_table(sample_records(), 60, false);
  EXPECT_EQ(render_table(sample_records(), 20, false), sixty);
  EXPECT_EQ(render_table(sample_records(), -5, false), sixty);
}

TEST(Table, ColorsOnlyWhenAskedAndChangesNothingElse) {
  const std::string plain = render_table(sample_records(), 120, false);
  EXPECT_THAT(plain, Not(HasSubstr("\x1b")));
  const std::string colored = render_table(sample_records(), 120, true);
  EXPECT_THAT(colored, HasSubstr("\x1b[32mcorrect\x1b[0m"));
  EXPECT_EQ(without_colors(colored), plain);
}

TEST(Table, GroupsEqualFailuresAndNamesAFew) {
  std::vector<record::RunRecord> records;
  for (int i = 0; i < 5; ++i) {
    records.push_back(failed("g" + std::to_string(i), record::Stage::Build, "bad-pass", "x.cpp:1:2: error: why"));
  }
  EXPECT_THAT(render_table(records, 80, false),
              HasSubstr("\nbuild: failed in g0, g1, g2 and 2 more\n  x.cpp:1:2: error: why\n"));
}

TEST(Table, CutsALongMessageAndSaysWhereTheRestIs) {
  std::string message = "line 0";
  for (int i = 1; i < 40; ++i) message += "\nline " + std::to_string(i);
  const std::string text = render_table({failed("g", record::Stage::Run, "crash", message)}, 80, false);
  EXPECT_THAT(text, HasSubstr("  line 12\n  … 27 more lines in records.jsonl\n"));
  EXPECT_THAT(text, Not(HasSubstr("line 13\n")));
}

TEST(Table, HeadsEachOfSeveralSamples) {
  auto first = measured("b1_float32", 20, 10, -10, 0), second = measured("b1_float32", 30, 10, -10, 0);
  second.sample = "gpt2_gelu";
  const std::string text = render_table({first, second}, 80, false);
  EXPECT_THAT(text, HasSubstr("\nresidual_layer_norm\n  b1_float32  correct  2.00x"));
  EXPECT_THAT(text, HasSubstr("\ngpt2_gelu\n  b1_float32  correct  3.00x"));
}

record::RunRecord timed_otherwise(const std::string& graph, double ratio, const char* clock) {
  record::RunRecord one = measured(graph, 20, 10, -10, 0);
  one.reference.others = {{{clock, "same", "warm"}, {ratio}}};
  one.candidate.others = {{{clock, "same", "warm"}, {1}}};
  return one;
}

TEST(Table, TellsOtherTimesOfGraphsInTheScoreAlone) {
  record::RunRecord disturbed = timed_otherwise("c", 7, "host");
  disturbed.disturbed = true;
  const std::string text =
      render_table({timed_otherwise("a", 3, "host"), timed_otherwise("b", 5, "device"), disturbed}, 120, false);
  EXPECT_THAT(text,
              HasSubstr("\ntimed in other ways, which the score leaves out:\nhost clock, same tensors, warm cache: "
                        "3.00x (1 of 2 graphs)\n"));
  EXPECT_THAT(text, Not(HasSubstr("7.00x")));
  disturbed.disturbed = false;
  EXPECT_THAT(render_table({disturbed}, 120, false), HasSubstr("warm cache: 7.00x\n"));
}

TEST(Table, SaysWhyTheScoreIsLessThanTheSpeedup) {
  const auto right = measured("a", 20, 10, -10, 0), coarse = measured("b", 20, 10, -5, 0.001);
  EXPECT_THAT(
      render_table({right, coarse}, 120, false),
      HasSubstr("\nbelow 2.00x, as a graph counts 0.1 at each t at which it is not right: 1 of 2 at t = -6, 1 of "
                "2 at t = -7\n"));
  EXPECT_THAT(render_table({right}, 120, false), Not(HasSubstr("below")));
}

TEST(Table, RepeatsNoScore) {
  EXPECT_THAT(render_table({measured("a", 20, 10, -10, 0)}, 120, false), Not(HasSubstr("if no failure is forgiven")));
  EXPECT_THAT(render_table({measured("a", 20, 10, -10, 0), measured("b", 20, 10, 6, 1)}, 120, false),
              HasSubstr(" if no failure is forgiven\n"));
}

TEST(Table, ShowsNoRatioOfWhatIsNotCorrect) {
  for (const int passes_from : {-4, 2, 6}) {
    const std::string text = render_table({measured("g", 20, 10, passes_from, 0.5)}, 120, true);
    EXPECT_THAT(text, Not(HasSubstr("2.00x"))) << passes_from;
    EXPECT_THAT(text, Not(HasSubstr("\x1b[32m"))) << passes_from;
    EXPECT_THAT(text, HasSubstr("geometric mean \x1b[1m-"));
  }
}

TEST(Table, SaysDeclinedWhereNothingWasReplaced) {
  auto record = measured("g", 20, 10, -10, 0);
  record.passes = {{"fuse", 0, 2, ""}};
  const std::string text = render_table({record}, 120, false);
  EXPECT_THAT(text, HasSubstr("g      declined      -"));
  EXPECT_THAT(text, HasSubstr("1 of 1 correct, geometric mean 1.00x"));
  EXPECT_THAT(text, HasSubstr("declined: the plan declined every site"));
}

TEST(Table, ShowsSmallTimesWithMoreDecimals) {
  EXPECT_THAT(render_table({measured("g", 9.128, 3.004, -10, 0)}, 80, false), HasSubstr("9.13      3.00"));
}

TEST(Table, SaysWhenThereIsNothing) { EXPECT_EQ(render_table({}, 80, false), "no graph was evaluated\n"); }

TEST(Table, ExplainsTimesThatCannotBe) {
  auto record = measured("g", 10, 5, -10, 0);
  record.candidate.trials_us[7] = 0;
  EXPECT_THAT(
      render_table({record}, 100, false),
      HasSubstr("\ntime: bad times in g\n  a trial of the rewritten graph took 0 us, expected at least 0.01 us\n"));
}

TEST(Table, ExplainsUnstableOutputs) {
  auto record = measured("g", 10, 5, -10, 0);
  record.deterministic = false;
  EXPECT_THAT(render_table({record}, 100, false),
              HasSubstr("\ntime: failed in g\n  outputs of timed calls differ from those of the checked call\n"));
}

TEST(Table, ExplainsLayouts) {
  auto record = measured("g", 10, 5, -10, 0);
  record.outputs[0].expected_layout = record::Layout{{8, 1}, 0, ""};
  record.outputs[0].found_layout = record::Layout{{1, 8}, 4, "input x"};
  EXPECT_THAT(
      render_table({record}, 200, false),
      testing::AllOf(
          HasSubstr("\nwrong layout in g\n  output 1 of 1: expected float32 [8, 197, 768] with strides [8, 1], found "),
          HasSubstr("strides [1, 8] at offset 4 in memory of input x\n")));
}

TEST(Table, ExplainsMissingAndSurplusOutputs) {
  auto record = measured("g", 10, 5, -10, 0);
  record.outputs.push_back(record.outputs[0]);
  record.outputs[1].found_dtype.clear();
  record.outputs[1].passes_from = 6;
  record.expected_outputs = 2;
  EXPECT_THAT(render_table({record}, 100, false),
              HasSubstr("\nwrong shape in g\n  output 2 of 2: is missing, expected float32 [8, 197, 768]\n"));
  std::swap(record.outputs[1].found_dtype, record.outputs[1].expected_dtype);
  record.expected_outputs = 1;
  record.found_outputs = 2;
  EXPECT_THAT(render_table({record}, 100, false),
              HasSubstr("  output 2 of 2: was not expected, found float32 [8, 197, 768]\n"));
}

}  // namespace
}  // namespace passnet::report
