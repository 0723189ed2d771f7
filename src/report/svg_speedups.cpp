#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "base/columns.h"
#include "report/svg.h"
#include "report/text.h"

namespace passnet::report {

namespace {

constexpr double kAxisHeight = 26, kTallestLine = 20, kPlotHeight = 900, kLeastLine = 0.4;
constexpr size_t kMostNames = 60, kLongestName = 50;
constexpr double kFurthest = 10;  // doublings

/// A logarithmic axis in percent of the plot's width.
struct SpeedAxis {
  double low = -1, high = 1;  // in doublings
  double at(double ratio) const { return 100 * std::clamp((std::log2(ratio) - low) / (high - low), 0.0, 1.0); }
  bool holds(double ratio) const { return std::log2(ratio) >= low && std::log2(ratio) <= high; }
};

SpeedAxis axis_for(const std::vector<SpeedMark>& marks) {
  double least = 0, most = 0;
  for (const SpeedMark& mark : marks) {
    least = std::min(least, std::log2(std::min(mark.interval.low, mark.ratio)));
    most = std::max(most, std::log2(std::max(mark.interval.high, mark.ratio)));
  }
  // Room for the marks at both ends, and never so close that noise fills the plot.
  SpeedAxis axis{std::min(least - 0.1, -0.35), std::max(most + 0.1, 0.6)};
  axis.low = std::max(axis.low, -kFurthest);
  axis.high = std::min(axis.high, kFurthest);
  return axis;
}

std::string tick_text(double ratio) { return fmt::format("{:.4g}x", ratio); }

std::vector<double> ticks_of(const SpeedAxis& axis) {
  static constexpr double kClose[] = {0.8, 0.9, 1, 1.1, 1.25, 1.5},
                          kNear[] = {0.33, 0.5, 0.67, 0.8, 1, 1.25, 1.5, 2, 3, 4, 6};
  std::vector<double> ticks;
  const double span = axis.high - axis.low;
  if (span <= 3.2) {
    const auto add = [&](double tick) {
      if (axis.holds(tick)) ticks.push_back(tick);
    };
    if (span < 1.2)
      std::ranges::for_each(kClose, add);
    else
      std::ranges::for_each(kNear, add);
    return ticks;
  }
  const int step = span <= 7 ? 1 : span <= 14 ? 2 : 3;
  for (int doubling = -12; doubling <= 12; ++doubling) {
    if (doubling % step == 0 && axis.holds(std::exp2(doubling))) ticks.push_back(std::exp2(doubling));
  }
  return ticks;
}

std::string grid_svg(const SpeedAxis& axis, double height) {
  std::string out;
  for (const double tick : ticks_of(axis)) {
    fmt::format_to(std::back_inserter(out),
                   "<line class=\"{0}\" x1=\"{1:.2f}%\" x2=\"{1:.2f}%\" y1=\"{2:.0f}\" y2=\"{3:.1f}\"/>"
                   "<text class=\"tick\" text-anchor=\"middle\" x=\"{1:.2f}%\" y=\"{4:.0f}\">{5}</text>",
                   tick == 1 ? "one" : "grid", axis.at(tick), kAxisHeight - 6, height, kAxisHeight - 11,
                   tick_text(tick));
  }
  return out;
}

/// The shape tells what the color does: a disc is faster, a ring no difference, a square slower.
std::string shape_svg(const SpeedMark& mark, double x, double y, double radius) {
  if (mark.speed == Speed::Slower)
    return fmt::format(
        "<rect x=\"{:.2f}%\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" transform=\"translate(-{:.1f} 0)\"/>", x,
        y - radius, 2 * radius, 2 * radius, radius);
  return fmt::format("<circle cx=\"{:.2f}%\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", x, y, radius);
}

std::string mark_svg(const SpeedMark& mark, const SpeedAxis& axis, double y, double radius) {
  const std::string name = escape_html(mark.name);
  std::string out = fmt::format(
      "<a href=\"#{0}\" class=\"mark {1}\" id=\"d{0}\"><title>{2}: {3} ({4:.2f} to {5:.2f}), {6}</title>"
      "<line class=\"error\" x1=\"{7:.2f}%\" x2=\"{8:.2f}%\" y1=\"{9:.1f}\" y2=\"{9:.1f}\"/>",
      mark.target, css_of(mark.speed), name, ratio_text(mark.ratio), mark.interval.low, mark.interval.high,
      to_string(mark.speed), axis.at(mark.interval.low), axis.at(mark.interval.high), y);
  out += shape_svg(mark, axis.at(mark.ratio), y, radius);
  if (!axis.holds(mark.ratio)) {
    const bool above = mark.ratio > 1;
    out += fmt::format("<text class=\"cut\" x=\"{}%\" y=\"{:.1f}\" text-anchor=\"{}\">{} {}</text>", above ? 99 : 1,
                       y + 4, above ? "end" : "start", above ? "»" : "«", ratio_text(mark.ratio));
  }
  return out + "</a>\n";
}

}  // namespace

std::string render_speedups_svg(std::vector<SpeedMark> marks) {
  if (marks.empty()) return {};
  std::stable_sort(marks.begin(), marks.end(),
                   [](const SpeedMark& a, const SpeedMark& b) { return a.ratio > b.ratio; });
  const SpeedAxis axis = axis_for(marks);
  const auto count = static_cast<double>(marks.size());
  const double line = std::clamp(kPlotHeight / count, kLeastLine, kTallestLine);
  const bool named = marks.size() <= kMostNames;
  const double radius = named ? 4.5 : std::clamp(line / 2, 1.6, 4.5);
  const double height = kAxisHeight + line * count + 6;
  std::string names, plot = grid_svg(axis, height);
  for (size_t i = 0; i < marks.size(); ++i) {
    const double y = kAxisHeight + line * (static_cast<double>(i) + 0.5);
    plot += mark_svg(marks[i], axis, y, radius);
    if (named)
      names += fmt::format("<text x=\"100%\" y=\"{:.1f}\" text-anchor=\"end\">{}</text>\n", y + 4,
                           escape_html(shorten_middle(visible(marks[i].name), kLongestName)));
  }
  // Names end at the plot; of a long one the end is seen, which tells shape and element type.
  const char* const left = named ? "34%" : "2%";
  const char* const width = named ? "63%" : "95%";
  if (named) names = fmt::format("<svg class=\"names\" width=\"32%\" height=\"{:.0f}\">{}</svg>", height, names);
  return fmt::format(
      "<svg class=\"speedups\" width=\"100%\" height=\"{0:.0f}\" role=\"img\" aria-label=\"speedups of {1} graphs, the "
      "fastest "
      "{2}, the slowest {3}\">{4}<svg x=\"{5}\" width=\"{6}\" height=\"{0:.0f}\" overflow=\"visible\">{7}</svg></svg>",
      height, marks.size(), ratio_text(marks.front().ratio), ratio_text(marks.back().ratio), names, left, width, plot);
}

}  // namespace passnet::report
