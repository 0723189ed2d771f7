#include "report/svg.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "bench/score.h"

namespace passnet::report {
namespace {

using testing::HasSubstr;

TEST(CurveSvg, RunsStraightToZeroAndInStepsAfterwards) {
  // Wrong everywhere below 0, right from there on at 2x: b = 0.1 until t = -1, then 2. Pixels: x = 56 … 690,
  // y = 262 … 16.
  const std::string svg = render_curve_svg(bench::score({{bench::Status::Correct, 0, 2}}));
  EXPECT_THAT(svg, HasSubstr("<path class=\"es-line\" d=\"M56.0 252.2L101.3 252.2"));
  EXPECT_THAT(svg, HasSubstr("L463.6 252.2L508.9 65.2H554.1V65.2H599.4V65.2"));
}

TEST(CurveSvg, HasARungMoreInTheExtendedReading) {
  bench::ScoreOptions options;
  options.interpretation = bench::Interpretation::MismatchExtended;
  EXPECT_THAT(render_curve_svg(bench::score({{bench::Status::Correct, 0, 2}}, options)),
              HasSubstr(">5</text>"));
}

TEST(RatioSvg, GrowsFromTheMiddleAndStopsAtEight) {
  EXPECT_THAT(render_ratio_svg(2), HasSubstr("class=\"faster\" x=\"48.0\" y=\"3\" width=\"15.7\""));
  EXPECT_THAT(render_ratio_svg(0.5), HasSubstr("class=\"slower\" x=\"32.3\" y=\"3\" width=\"15.7\""));
  EXPECT_THAT(render_ratio_svg(1000), HasSubstr("width=\"47.0\""));
  EXPECT_THAT(render_ratio_svg(1e-9), HasSubstr("x=\"1.0\" y=\"3\" width=\"47.0\""));
}

TEST(BoxesSvg, ShareOneScale) {
  bench::Stats before, after;
  before.min = 80, before.q1 = 90, before.median = 100, before.q3 = 110, before.max = 1000, before.iqr = 20;
  after.min = 40, after.q1 = 45, after.median = 50, after.q3 = 55, after.max = 60, after.iqr = 10;
  // Before reaches to q3 + 1.5 iqr = 140, which is 148 pixels from the left edge at 1.
  const std::string svg = render_boxes_svg(before, after);
  EXPECT_THAT(svg, HasSubstr("<g class=\"before\"><line x1=\"85.6\" x2=\"149.0\""));
  EXPECT_THAT(svg, HasSubstr("<g class=\"after\"><line x1=\"43.3\" x2=\"64.4\""));
  EXPECT_THAT(svg, HasSubstr("aria-label=\"before 90 to 110 us, after 45 to 55 us\""));
}

}  // namespace
}  // namespace passnet::report
