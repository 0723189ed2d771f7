#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/svg.h"
#include "report/text.h"

namespace passnet::report {

namespace {

constexpr double kTallestLine = 20, kPlotHeight = 900, kLeastLine = 0.4;
constexpr size_t kMostNames = 60;
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

std::string tick_text(double ratio) {
  return ratio <= 0.5 ? fmt::format("1/{:.0f}x", 1 / ratio) : fmt::format("{:.4g}x", ratio);
}

/// A tick that narrow screens have no room for the text of.
bool is_minor(double tick) { return tick == 0.67 || tick == 0.8 || tick == 1.25 || tick == 3 || tick == 6; }

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

std::string scale_svg(const SpeedAxis& axis) {
  std::string out = "<svg class=\"scale\" height=\"100%\">";
  for (const double tick : ticks_of(axis)) {
    fmt::format_to(std::back_inserter(out),
                   "<line class=\"{0}\" x1=\"{1:.2f}%\" x2=\"{1:.2f}%\" y1=\"20\" y2=\"100%\"/>"
                   "<text class=\"tick{2}\" text-anchor=\"middle\" x=\"{1:.2f}%\" y=\"15\">{3}</text>",
                   tick == 1 ? "one" : "grid", axis.at(tick), is_minor(tick) ? " minor" : "", tick_text(tick));
  }
  return out + "</svg>\n";
}

/// The shape tells what the color does: a disc is faster, a ring no difference, a square slower.
std::string shape_svg(const SpeedMark& mark, double x, double y, double radius) {
  if (mark.speed == Speed::Slower)
    return fmt::format(
        "<rect x=\"{:.2f}%\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\" transform=\"translate(-{:.1f} 0)\"/>", x,
        y - radius, 2 * radius, 2 * radius, radius);
  return fmt::format("<circle cx=\"{:.2f}%\" cy=\"{:.1f}\" r=\"{:.1f}\"/>", x, y, radius);
}

std::string link_html(const SpeedMark& mark, const std::string& content) {
  const bool is_page = mark.target.find('/') != std::string::npos;
  const std::string to =
      is_page ? fmt::format("href=\"{}\"", mark.target) : fmt::format("href=\"#{0}\" id=\"d{0}\"", mark.target);
  return fmt::format("<a {} class=\"mark {}\">{}</a>\n", to, css_of(mark.speed), content);
}

std::string mark_svg(const SpeedMark& mark, const SpeedAxis& axis, double y, double radius) {
  std::string out = fmt::format(
      "<title>{}: {} ({:.2f} to {:.2f}), {}</title>"
      "<line class=\"error\" x1=\"{:.2f}%\" x2=\"{:.2f}%\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
      escape_html(mark.name), ratio_text(mark.ratio), mark.interval.low, mark.interval.high, to_string(mark.speed),
      axis.at(mark.interval.low), axis.at(mark.interval.high), y, y);
  out += shape_svg(mark, axis.at(mark.ratio), y, radius);
  if (!axis.holds(mark.ratio)) {
    const bool above = mark.ratio > 1;
    out += fmt::format("<text class=\"cut\" x=\"{}%\" y=\"{:.1f}\" text-anchor=\"{}\">{} {}</text>", above ? 99 : 1,
                       y + 4, above ? "end" : "start", above ? "»" : "«", ratio_text(mark.ratio));
  }
  return out;
}

/// A line of HTML per graph, so that a long name has the room it needs.
std::string named_lines(const std::vector<SpeedMark>& marks, const SpeedAxis& axis) {
  std::string out;
  for (const SpeedMark& mark : marks) {
    out += link_html(mark, fmt::format("<span>{}</span><svg height=\"{}\">{}</svg>", escape_html(mark.name),
                                       kTallestLine, mark_svg(mark, axis, kTallestLine / 2, 4.5)));
  }
  return out;
}

std::string unnamed_lines(const std::vector<SpeedMark>& marks, const SpeedAxis& axis) {
  const auto count = static_cast<double>(marks.size());
  const double line = std::clamp(kPlotHeight / count, kLeastLine, kTallestLine);
  std::string out = fmt::format("<svg height=\"{:.0f}\">\n", line * count);
  for (size_t i = 0; i < marks.size(); ++i) {
    const double y = line * (static_cast<double>(i) + 0.5);
    out += link_html(marks[i], mark_svg(marks[i], axis, y, std::clamp(line / 2, 1.6, 4.5)));
  }
  return out + "</svg>\n";
}

}  // namespace

std::string render_speedups(std::vector<SpeedMark> marks) {
  if (marks.empty()) return {};
  std::stable_sort(marks.begin(), marks.end(),
                   [](const SpeedMark& a, const SpeedMark& b) { return a.ratio > b.ratio; });
  const SpeedAxis axis = axis_for(marks);
  const bool named = marks.size() <= kMostNames;
  return fmt::format(
      "<div class=\"speedups{}\" role=\"group\" aria-label=\"speedups of {} graphs, the fastest {}, the slowest {}\">\n"
      "{}{}</div>",
      named ? " named" : "", marks.size(), ratio_text(marks.front().ratio), ratio_text(marks.back().ratio),
      scale_svg(axis), named ? named_lines(marks, axis) : unnamed_lines(marks, axis));
}

}  // namespace passnet::report
