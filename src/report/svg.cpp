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

Axes axes_for(const bench::Score& score) {
  Axes axes;
  axes.first_t = score.points.front().t;
  axes.last_t = score.points.back().t;
  double highest = 1;
  for (const bench::ScorePoint& point : score.points) highest = std::max({highest, point.s, point.es});
  const double step = nice_step(highest);
  axes.highest = step * std::ceil(highest / step * 1.02);
  return axes;
}

std::string grid_svg(const Axes& axes) {
  std::string out =
      fmt::format("<rect class=\"forgiven\" x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.1f}\"/>",
                  axes.x(0), axes.top, axes.right - axes.x(0), axes.bottom - axes.top);
  out += fmt::format("<text class=\"note\" x=\"{:.1f}\" y=\"{:.1f}\">errors forgiven</text>", axes.x(0) + 8,
                     axes.top + 15);
  const double step = nice_step(axes.highest);
  for (double value = 0; value <= axes.highest * 1.0001; value += step) {
    out += fmt::format(
        "<line class=\"grid\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>"
        "<text class=\"tick\" text-anchor=\"end\" x=\"{3:.1f}\" y=\"{4:.1f}\">{5:.6g}</text>",
        axes.left, axes.right, axes.y(value), axes.left - 8, axes.y(value) + 4, value);
  }
  out += fmt::format("<line class=\"eager\" x1=\"{0:.1f}\" x2=\"{1:.1f}\" y1=\"{2:.1f}\" y2=\"{2:.1f}\"/>",
                     axes.left, axes.right, axes.y(1));
  for (int t = axes.first_t; t <= axes.last_t; ++t) {
    out += fmt::format("<text class=\"tick\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">{}</text>",
                       axes.x(t), axes.bottom + 18, t);
  }
  out +=
      fmt::format("<text class=\"label\" text-anchor=\"middle\" x=\"{:.1f}\" y=\"{:.1f}\">tolerance t</text>",
                  (axes.left + axes.right) / 2, axes.bottom + 38);
  out += fmt::format(
      "<text class=\"label\" text-anchor=\"middle\" transform=\"translate(14 {:.1f}) rotate(-90)\">"
      "score, 1 = eager</text>",
      (axes.top + axes.bottom) / 2);
  return out;
}

std::string path_svg(const Axes& axes, const bench::Score& score, double bench::ScorePoint::*value,
                     const char* css) {
  std::string path;
  for (const bench::ScorePoint& point : score.points) {
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

std::string dots_svg(const Axes& axes, const bench::Score& score) {
  std::string out;
  for (const bench::ScorePoint& point : score.points) {
    out += fmt::format(
        "<circle class=\"es-dot\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"3\"><title>t = {}: ES {:.6f}, S {:.6f}, "
        "{:.0f} % "
        "correct</title></circle>",
        axes.x(point.t), axes.y(point.es), point.t, point.es, point.s, 100 * point.correct_share);
  }
  return out;
}

/// At the right end of both lines, kept apart when they end close together.
std::string end_labels_svg(const Axes& axes, const bench::Score& score) {
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

struct Box {
  double low, high;  // whiskers
};
Box whiskers(const bench::Stats& us) {
  return {std::max(us.min, us.q1 - 1.5 * us.iqr), std::min(us.max, us.q3 + 1.5 * us.iqr)};
}

}  // namespace

std::string render_curve_svg(const bench::Score& score) {
  const Axes axes = axes_for(score);
  return "<svg class=\"curve\" viewBox=\"0 0 740 306\" role=\"img\" aria-label=\"ES(t) and S(t) over the "
         "tolerance t\">" +
         grid_svg(axes) + path_svg(axes, score, &bench::ScorePoint::s, "s-line") +
         path_svg(axes, score, &bench::ScorePoint::es, "es-line") + dots_svg(axes, score) +
         end_labels_svg(axes, score) + "</svg>";
}

std::string render_ratio_svg(double ratio) {
  constexpr double kWidth = 96, kMiddle = kWidth / 2, kDoublings = 3;
  const double reach = std::clamp(std::log2(ratio) / kDoublings, -1.0, 1.0) * (kMiddle - 1);
  const char* css = reach >= 0 ? "faster" : "slower";
  return fmt::format(
      "<svg class=\"ratio\" viewBox=\"0 0 {0:.0f} 14\" aria-hidden=\"true\">"
      "<rect class=\"{1}\" x=\"{2:.1f}\" y=\"3\" width=\"{3:.1f}\" height=\"8\"/>"
      "<line class=\"axis\" x1=\"{4:.1f}\" x2=\"{4:.1f}\" y1=\"0\" y2=\"14\"/></svg>",
      kWidth, css, kMiddle + std::min(reach, 0.0), std::abs(reach), kMiddle);
}

std::string render_boxes_svg(const bench::Stats& before_us, const bench::Stats& after_us) {
  constexpr double kWidth = 150, kHeight = 9;
  const double scale = (kWidth - 2) / std::max(whiskers(before_us).high, whiskers(after_us).high);
  const auto box_svg = [&](const bench::Stats& us, double top, const char* css) {
    const Box ends = whiskers(us);
    const double middle = top + kHeight / 2;
    const auto x = [&](double value) { return 1 + value * scale; };
    return fmt::format(
        "<g class=\"{}\"><line x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>"
        "<rect x=\"{:.1f}\" y=\"{:.1f}\" width=\"{:.1f}\" height=\"{:.0f}\"/>"
        "<line class=\"median\" x1=\"{:.1f}\" x2=\"{:.1f}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/></g>",
        css, x(ends.low), x(ends.high), middle, middle, x(us.q1), top, std::max((us.q3 - us.q1) * scale, 1.0),
        kHeight, x(us.median), x(us.median), top, top + kHeight);
  };
  return fmt::format(
             "<svg class=\"boxes\" viewBox=\"0 0 {:.0f} 24\" role=\"img\" aria-label=\"before {:.3g} to "
             "{:.3g} us, after "
             "{:.3g} to {:.3g} us\">",
             kWidth, before_us.q1, before_us.q3, after_us.q1, after_us.q3) +
         box_svg(before_us, 1, "before") + box_svg(after_us, 14, "after") + "</svg>";
}

}  // namespace passnet::report
