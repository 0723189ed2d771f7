#include "report/svg.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

namespace passnet::report {

namespace {

/// Where the curve's axes lie, in pixels, and what they span.
struct Axes {
  double left = 56, right = 690, top = 16, bottom = 262;
  int first_t = -10, last_t = 4;
  double highest = 1;

  double x(double t) const { return left + (right - left) * (t - first_t) / (last_t - first_t); }
  double y(double value) const { return bottom - (bottom - top) * value / highest; }
};

/// 1, 2 or 5 times a power of ten, so that about five steps reach `highest`.
double nice_step(double highest) {
  const double raw = highest / 5, power = std::pow(10.0, std::floor(std::log10(raw)));
  for (double factor : {1.0, 2.0, 5.0}) {
    if (raw <= factor * power * 1.0001) return factor * power;
  }
  return 10 * power;
}

Axes axes_for(const record::Score& score) {
  Axes axes;
  axes.first_t = score.points.front().t;
  axes.last_t = score.points.back().t;
  double highest = 1;
  for (const record::ScorePoint& point : score.points) highest = std::max({highest, point.s, point.es});
  const double step = nice_step(highest);
  axes.highest = step * std::ceil(highest / step * 1.02);
  return axes;
}

std::string grid_svg(const Axes& axes) {
  std::string out =
      fmt::format("<rect class=\"forgiven\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>", axes.x(0),
                  axes.top, axes.right - axes.x(0), axes.bottom - axes.top);
  out += fmt::format("<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">errors forgiven</text>", axes.x(0) + 8,
                     axes.top + 15);
  const double step = nice_step(axes.highest);
  for (double value = 0; value <= axes.highest * 1.0001; value += step) {
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" text-anchor=\"end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5:.6g}</text>",
        axes.left, axes.right, axes.y(value), axes.left - 8, axes.y(value) + 4, value);
  }
  out += fmt::format("<line class=\"eager\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>", axes.left,
                     axes.right, axes.y(1));
  for (int t = axes.first_t; t <= axes.last_t; ++t) {
    out += fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>", axes.x(t),
                       axes.bottom + 18, t);
  }
  out += fmt::format("<text class=\"label\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">tolerance t</text>",
                     (axes.left + axes.right) / 2, axes.bottom + 38);
  out += fmt::format(
      "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(14 {:.1f}) rotate(-90)\">"
      "score, 1 = eager</text>",
      (axes.top + axes.bottom) / 2);
  return out;
}

std::string path_svg(const Axes& axes, const record::Score& score, double record::ScorePoint::*value, const char* css) {
  std::string path;
  for (const record::ScorePoint& point : score.points) {
    const double x = axes.x(point.t), y = axes.y(point.*value);
    if (path.empty())
      path = fmt::format("M{:.1f} {:.1f}", x, y);
    else if (point.t <= 0)
      path += fmt::format("L{:.1f} {:.1f}", x, y);
    else
      path += fmt::format("H{:.1f}V{:.1f}", x, y);
  }
  return fmt::format("<path class=\"{}\" d=\"{}\"/>", css, path);
}

std::string dots_svg(const Axes& axes, const record::Score& score) {
  std::string out;
  for (const record::ScorePoint& point : score.points) {
    out += fmt::format(
        "<circle class=\"es-dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>t = {}: ES {:.6f}, S {:.6f}, "
        "{:.0f} % "
        "correct</title></circle>",
        axes.x(point.t), axes.y(point.es), point.t, point.es, point.s, 100 * point.correct_share);
  }
  return out;
}

/// At the right end of both lines, kept apart when they end close together.
std::string end_labels_svg(const Axes& axes, const record::Score& score) {
  double es = axes.y(score.points.back().es), s = axes.y(score.points.back().s);
  constexpr double kApart = 15;
  if (std::abs(es - s) < kApart) {
    const double middle = std::clamp((es + s) / 2, axes.top + kApart / 2, axes.bottom - kApart / 2);
    const double sign = s < es ? 1 : -1;
    es = middle + sign * kApart / 2;
    s = middle - sign * kApart / 2;
  }
  return fmt::format(
      "<text class=\"es-name\" x=\"{0:.1f}\" y=\"{1:.1f}\">ES(t)</text>"
      "<text class=\"s-name\" x=\"{0:.1f}\" y=\"{2:.1f}\">S(t)</text>",
      axes.right + 8, es + 4, s + 4);
}

}  // namespace

std::string render_curve_svg(const record::Score& score) {
  const Axes axes = axes_for(score);
  return "<svg class=\"curve\" viewBox=\"0 0 740 306\" role=\"img\" aria-label=\"ES(t) and S(t) over the "
         "tolerance t\">" +
         grid_svg(axes) + path_svg(axes, score, &record::ScorePoint::s, "s-line") +
         path_svg(axes, score, &record::ScorePoint::es, "es-line") + dots_svg(axes, score) +
         end_labels_svg(axes, score) + "</svg>";
}

std::string render_ratio_svg(double ratio, const record::Interval& interval, Speed speed) {
  constexpr double kWidth = 96, kMiddle = kWidth / 2, kDoublings = 3;
  const auto x = [](double value) {
    return kMiddle + std::clamp(std::log2(value) / kDoublings, -1.0, 1.0) * (kMiddle - 1);
  };
  const double end = x(ratio), from = std::min(kMiddle, end);
  std::string out = fmt::format(
      "<svg class=\"ratio {0}\" viewBox=\"0 0 {1:.0f} 14\" aria-hidden=\"true\">"
      "<path class=\"bar\" d=\"M{2:.1f} 3h{3:.1f}v8h-{3:.1f}z\"/>"
      "<path class=\"axis\" d=\"M{4:.0f} 0v14\"/><path class=\"error\" d=\"M{5:.1f} 7H{6:.1f}\"/>",
      css_of(speed), kWidth, from, std::max(kMiddle, end) - from, kMiddle, x(interval.low), x(interval.high));
  const double doublings = std::log2(ratio) / kDoublings;
  if (doublings > 1) out += "<path class=\"cut\" d=\"M86 0l4 7l-4 7M91 0l4 7l-4 7\"/>";
  if (doublings < -1) out += "<path class=\"cut\" d=\"M10 0l-4 7l4 7M5 0l-4 7l4 7\"/>";
  return out + "</svg>";
}

}  // namespace passnet::report
