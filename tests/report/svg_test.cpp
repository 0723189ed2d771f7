#include "report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "record/score/score.h"

namespace passnet::report {
namespace {

using testing::ContainsRegex;
using testing::HasSubstr;
using testing::Not;

TEST(CurveSvg, RunsStraightToZeroAndInStepsAfterwards) {
  // Wrong everywhere below 0, right from there on at 2x: b = 0.1 until t = -1, then 2. Pixels: x = 56 … 690,
  // y = 262 … 16.
  const std::string svg = render_curve_svg(record::score({{record::Status::Correct, 0, 2}}));
  EXPECT_THAT(svg, HasSubstr("<path class=\"es-line\" d=\"M56.0 252.2L101.3 252.2"));
  EXPECT_THAT(svg, HasSubstr("L463.6 252.2L508.9 65.2H554.1V65.2H599.4V65.2"));
}

TEST(CurveSvg, HasARungMoreInTheExtendedReading) {
  record::ScoreOptions options;
  options.interpretation = record::Interpretation::MismatchExtended;
  EXPECT_THAT(render_curve_svg(record::score({{record::Status::Correct, 0, 2}}, options)), HasSubstr(">5</text>"));
}

TEST(RatioSvg, GrowsFromTheMiddleAndHasItsInterval) {
  const std::string faster = render_ratio_svg(2, {1.8, 2.2}, Speed::Faster);
  EXPECT_THAT(faster, HasSubstr("class=\"ratio faster\""));
  EXPECT_THAT(faster, HasSubstr("<path class=\"bar\" d=\"M48.0 3h15.7v8h-15.7z\"/>"));
  EXPECT_THAT(faster, HasSubstr("<path class=\"error\" d=\"M61.3 7H65.8\"/>"));
  EXPECT_THAT(render_ratio_svg(0.5, {0.4, 0.6}, Speed::Slower), HasSubstr("d=\"M32.3 3h15.7v8h-15.7z\""));
}

TEST(RatioSvg, MarksABarThatGoesOn) {
  EXPECT_THAT(render_ratio_svg(8, {7, 9}, Speed::Faster), Not(HasSubstr("cut")));
  EXPECT_THAT(render_ratio_svg(8.1, {7, 9}, Speed::Faster), HasSubstr("<path class=\"cut\" d=\"M86 0"));
  EXPECT_THAT(render_ratio_svg(1e-9, {1e-10, 1e-8}, Speed::Slower), HasSubstr("<path class=\"cut\" d=\"M10 0"));
  EXPECT_THAT(render_ratio_svg(1e-9, {1e-10, 1e-8}, Speed::Slower), HasSubstr("d=\"M1.0 3h47.0v8h-47.0z\""));
}

SpeedMark mark(const char* name, double ratio, Speed speed) {
  return {name, std::string("g_") + name, ratio, {ratio * 0.9, ratio * 1.1}, speed};
}

TEST(Speedups, AreSortedWithAShapeOfEachVerdict) {
  const std::string svg =
      render_speedups({mark("slow", 0.5, Speed::Slower), mark("fast", 4, Speed::Faster), mark("same", 1, Speed::Same)});
  EXPECT_LT(svg.find("#g_fast"), svg.find("#g_same"));
  EXPECT_LT(svg.find("#g_same"), svg.find("#g_slow"));
  EXPECT_THAT(svg, ContainsRegex("class=\"mark faster\"[^\n]*<circle"));
  EXPECT_THAT(svg, ContainsRegex("class=\"mark slower\"[^\n]*<rect"));
  EXPECT_THAT(svg, HasSubstr(">4x</text>"));
  EXPECT_THAT(svg, Not(HasSubstr("class=\"cut\"")));
}

TEST(Speedups, MarkWhatTheAxisCannotReach) {
  const std::string svg = render_speedups({mark("huge", 5000, Speed::Faster), mark("same", 1, Speed::Same)});
  EXPECT_THAT(svg, HasSubstr("» 5e+03x</text>"));
  EXPECT_EQ(svg.find("class=\"cut\""), svg.rfind("class=\"cut\""));
}

TEST(Speedups, NameGraphsWhileThereIsRoom) {
  EXPECT_THAT(render_speedups(std::vector<SpeedMark>(60, mark("g", 2, Speed::Faster))),
              HasSubstr("class=\"speedups named\""));
  EXPECT_THAT(render_speedups(std::vector<SpeedMark>(61, mark("g", 2, Speed::Faster))),
              Not(HasSubstr("class=\"speedups named\"")));
  EXPECT_THAT(render_speedups({{"<b>", "g1", 2, {1.9, 2.1}, Speed::Faster}}), Not(HasSubstr("<b>")));
  EXPECT_EQ(render_speedups({}), "");
}

record::Timing timing(std::vector<double> trials_us, std::vector<int> blocks = {}) {
  record::Timing timing;
  timing.trials_us = std::move(trials_us);
  timing.blocks = std::move(blocks);
  return timing;
}

TEST(TrialsSvg, PutBlocksBesideEachOther) {
  // Two columns of 300 pixels, two trials in each; 0 to 20 us over 100 pixels.
  const TrialsDrawing drawing = render_trials_svg(timing({20, 20, 20, 20}, {2, 2}), timing({10, 10, 10, 10}, {2, 2}));
  EXPECT_EQ(drawing.top_us, 20);
  EXPECT_EQ(drawing.beyond, 0);
  EXPECT_THAT(drawing.svg, HasSubstr("<path class=\"block\" d=\"M300 0H600V100H300z\"/>"));
  EXPECT_THAT(drawing.svg, HasSubstr("<path class=\"before\" d=\"m75 0l150 0m150 0l150 0\"/>"));
  EXPECT_THAT(drawing.svg, HasSubstr("<path class=\"after\" d=\"m75 50l150 0m150 0l150 0\"/>"));
}

TEST(TrialsSvg, DrawABlockOfOneTrialAsWideAsItsColumn) {
  const TrialsDrawing drawing = render_trials_svg(timing({20, 10, 20}, {1, 1, 1}), timing({10, 20, 10}, {1, 1, 1}));
  EXPECT_THAT(drawing.svg, HasSubstr("<path class=\"before\" d=\"m0 0l200 0m0 50l200 0m0 -50l200 0\"/>"));
  EXPECT_THAT(drawing.svg, HasSubstr("<path class=\"after\" d=\"m0 50l200 0m0 -50l200 0m0 50l200 0\"/>"));
}

TEST(TrialsSvg, BlocksThatShareAPixelKeepTheirPeaks) {
  std::vector<double> trials(100'000, 10);
  trials[1234] = 25;
  const TrialsDrawing drawing = render_trials_svg(timing(trials, std::vector<int>(100'000, 1)), timing({10}));
  EXPECT_LT(drawing.svg.size(), 40'000u);
  EXPECT_THAT(drawing.svg, HasSubstr("l0 60"));
}

TEST(TrialsSvg, MarkTrialsBeyondTheEdge) {
  const TrialsDrawing drawing = render_trials_svg(timing({10, 10, 500}), timing({10, 10, 10}));
  EXPECT_EQ(drawing.top_us, 30);
  EXPECT_EQ(drawing.beyond, 1);
  EXPECT_EQ(drawing.longest_us, 500);
  EXPECT_THAT(drawing.svg, HasSubstr("<path class=\"beyond\" d=\"M500 0v7\"/>"));
}

TEST(TrialsSvg, KeepPeaksAndStaySmall) {
  std::vector<double> trials(1'000'000, 10);
  trials[123456] = 25;
  const TrialsDrawing drawing = render_trials_svg(timing(trials), timing(trials));
  EXPECT_LT(drawing.svg.size(), 40'000u);
  EXPECT_THAT(drawing.svg, HasSubstr("l0 60"));  // 25 to 10 us of 0 to 25, in one pixel
  EXPECT_EQ(render_trials_svg(timing({}), timing({10})).svg, "");
}

}  // namespace
}  // namespace passnet::report
