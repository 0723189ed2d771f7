// The three drawings of report.html as inline SVG. Colors come from the page's style sheet through classes.
#pragma once

#include <string>

#include "bench/score.h"
#include "bench/stats.h"

namespace passnet::report {

/// ES(t) and S(t) with labelled axes: straight lines up to t = 0, steps that hold their value until the next
/// t after it.
std::string render_curve_svg(const bench::Score& score);

/// A bar from 1x to the ratio on a logarithmic scale from 1/8 to 8, faster to the right. REQUIRES: ratio > 0.
std::string render_ratio_svg(double ratio);

/// Two box plots on one scale from 0, before above after: quartiles, median, whiskers at most 1.5 iqr long.
std::string render_boxes_svg(const bench::Stats& before_us, const bench::Stats& after_us);

}  // namespace passnet::report
