// The drawings of report.html as inline SVG, with lines of HTML where texts need room. Colors come from the page's style sheet through classes.
#pragma once

#include <string>
#include <vector>

#include "record/record.h"
#include "record/score/interval.h"
#include "record/score/score.h"
#include "report/speed.h"

namespace passnet::report {

/// ES(t) and S(t) with labelled axes: straight lines up to t = 0, steps that hold their value until the next
/// t after it.
std::string render_curve_svg(const record::Score& score);

/// A bar from 1x to the ratio on a logarithmic scale from 1/8 to 8, faster to the right, with the interval as a line.
/// A ratio beyond the scale ends in a double arrow. REQUIRES: ratio > 0.
std::string render_ratio_svg(double ratio, const record::Interval& interval, Speed speed);

/// One graph among all that have a speedup.
struct SpeedMark {
  std::string name;    // as people read it; escaped here
  std::string target;  // id of the graph's row, "g12"; with a slash: a page
  double ratio = 0;
  record::Interval interval;
  Speed speed = Speed::Same;
};

/// A line per graph, the fastest first: its ratio as a mark (the shape tells the verdict, as the color does) and its
/// interval, on a logarithmic axis that reaches as far as the ratios do, to 1024 times at most; what lies beyond has an
/// arrow. Up to 60 graphs have their names beside them, above them on narrow screens; more share the height. As wide as
/// it is given room, texts of one size.
/// REQUIRES: ratios > 0. "" for no marks.
std::string render_speedups(std::vector<SpeedMark> marks);

/// Trial times of both sides in the order taken, from 0 up; blocks that were timed beside each other share a column,
/// every second column is shaded. The scale ends at three times the larger median: what took longer has a mark at the
/// upper edge.
struct TrialsDrawing {
  std::string svg;    // "" when a side has no trials
  double top_us = 0;  // upper edge
  int beyond = 0;     // trials above it
  double longest_us = 0;
};
TrialsDrawing render_trials_svg(const record::Timing& reference, const record::Timing& candidate);

}  // namespace passnet::report
