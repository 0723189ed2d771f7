#include "site/chart.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <set>

#include "report/text.h"

namespace passnet::site {

using report::escape_html;

namespace {

constexpr const char* kSchema = "https://vega.github.io/schema/vega-lite/v5.json";

Json ratio_spec(const std::string& label) {
  const Json name{{"field", "name"},
                  {"type", "nominal"},
                  {"sort", {{"field", "ratio"}, {"order", "descending"}}},
                  {"title", nullptr}};
  const Json axis{{"type", "quantitative"}, {"scale", {{"type", "log"}}}, {"title", label}};
  Json at = axis, low = axis;
  at["field"] = "ratio";
  low["field"] = "low";
  return {{"encoding", {{"y", name}}},
          {"layer",
           {{{"mark", "rule"}, {"encoding", {{"x", low}, {"x2", {{"field", "high"}}}}}},
            {{"mark", {{"type", "point"}, {"filled", true}}},
             {"encoding", {{"x", at}, {"color", {{"field", "speed"}, {"type", "nominal"}}}}}}}}};
}

}  // namespace

std::string render_vega(Json spec, Json values) {
  spec["$schema"] = kSchema;
  spec["data"] = {{"values", std::move(values)}};
  return fmt::format(
      "<details class=\"text\"><summary>data and Vega-Lite spec</summary><pre class=\"vega\">{}</pre></details>\n",
      escape_html(dump(spec, 1)));
}

std::string render_ratio_chart(std::vector<report::SpeedMark> marks, const std::string& label,
                               const std::string& caption) {
  if (marks.empty()) return {};
  Json values = Json::array();
  for (const report::SpeedMark& mark : marks) {
    values.push_back({{"name", mark.name},
                      {"ratio", mark.ratio},
                      {"low", mark.interval.low},
                      {"high", mark.interval.high},
                      {"speed", report::to_string(mark.speed)}});
  }
  return "<figure>\n<p class=\"legend\"><span class=\"faster\">● faster</span> <span class=\"same\">○ no "
         "difference</span> <span class=\"slower\">■ slower</span></p>\n" +
         report::render_speedups(std::move(marks)) + "\n<figcaption>" + caption + "</figcaption>\n" +
         render_vega(ratio_spec(label), std::move(values)) + "</figure>\n";
}

std::string render_history_chart(const std::vector<HistoryPoint>& points, const std::string& label) {
  constexpr double kLeft = 56, kRight = 720, kTop = 14, kBottom = 200;
  double best = 1;
  Json values = Json::array();
  for (const HistoryPoint& point : points) {
    best = std::max(best, point.score);
    values.push_back({{"started", point.started}, {"name", point.name}, {"score", point.score}});
  }
  const double highest = 1.1 * best;
  const auto count = static_cast<double>(points.size());
  const auto x = [&](size_t i) { return kLeft + (kRight - kLeft) * (static_cast<double>(i) + 0.5) / count; };
  const auto y = [&](double score) { return kBottom - (kBottom - kTop) * score / highest; };
  std::string svg = fmt::format(
      "<svg class=\"history\" viewBox=\"0 0 740 240\" role=\"img\" aria-label=\"{}, {} runs\">"
      "<line class=\"eager\" x1=\"{}\" x2=\"{}\" y1=\"{:.1f}\" y2=\"{:.1f}\"/>",
      escape_html(label), points.size(), kLeft, kRight, y(1), y(1));
  for (const double tick : std::set{0.0, 1.0, best}) {
    if (tick != 1.0 && std::abs(y(1) - y(tick)) < 16) continue;
    svg += fmt::format("<text text-anchor=\"end\" x=\"{}\" y=\"{:.1f}\">{:.3g}</text>", kLeft - 8, y(tick) + 4, tick);
  }
  std::string path;
  for (size_t i = 0; i < points.size(); ++i)
    path += fmt::format("{}{:.1f} {:.1f}", i == 0 ? "M" : "L", x(i), y(points[i].score));
  svg += fmt::format("<path class=\"path\" d=\"{}\"/>", path);
  for (size_t i = 0; i < points.size(); ++i)
    svg += fmt::format(
        "<circle class=\"run\" cx=\"{:.1f}\" cy=\"{:.1f}\" r=\"4\"><title>{}, {}: {:.3f}</title></circle>", x(i),
        y(points[i].score), escape_html(points[i].name), escape_html(points[i].started), points[i].score);
  svg += fmt::format("<text x=\"{}\" y=\"{}\">{}</text><text text-anchor=\"end\" x=\"{}\" y=\"{}\">{}</text></svg>",
                     kLeft, kBottom + 20, escape_html(points.front().started.substr(0, 10)), kRight, kBottom + 20,
                     points.size() > 1 ? escape_html(points.back().started.substr(0, 10)) : "");
  const Json spec{
      {"mark", {{"type", "line"}, {"point", true}}},
      {"encoding",
       {{"x", {{"field", "started"}, {"type", "temporal"}}}, {"y", {{"field", "score"}, {"type", "quantitative"}}}}}};
  return "<figure>\n<div class=\"wide\">" + svg + "</div>\n<figcaption>" + escape_html(label) +
         ", one point a run in the order of time; dashed: eager.</figcaption>\n" +
         render_vega(spec, std::move(values)) + "</figure>\n";
}

}  // namespace passnet::site
