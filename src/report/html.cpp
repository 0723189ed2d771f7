#include "report/html.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iterator>

#include "report/html_style.h"
#include "report/row.h"
#include "report/svg.h"
#include "report/text.h"

namespace passnet::report {

namespace {

const char* css_of(Tone tone) {
  switch (tone) {
    case Tone::Good:
      return "good";
    case Tone::Neutral:
      return "neutral";
    case Tone::Doubtful:
      return "doubtful";
    default:
      return "bad";
  }
}

/// A number to sort by; what has none comes last in ascending order.
std::string sort_key(double value, bool present) {
  constexpr double kLast = 1e300;
  return fmt::format("{:.6g}", present && std::isfinite(value) ? value : kLast);
}

std::string figure_html(const char* name, const std::string& value, const std::string& note,
                        const char* css = "") {
  return fmt::format("<div><dt>{}</dt><dd class=\"{}\">{}<small>{}</small></dd></div>\n", name, css, value,
                     note);
}

std::string render_figures(const std::vector<Row>& rows, const bench::Score& score) {
  const auto noisy = std::count_if(rows.begin(), rows.end(), [](const Row& row) { return row.noisy; });
  const bench::ScorePoint& at = score.at(bench::kCorrectT);
  const char* correct_css = score.total == 0 ? "" : score.correct == score.total ? "good" : "bad";
  return "<dl class=\"figures\">\n" +
         figure_html("Correct", fmt::format("{} of {}", score.correct, score.total), "at t = -5",
                     correct_css) +
         figure_html("Speedup", ratio_text(score.geomean_speedup.value_or(0)), "geometric mean of the correct") +
         figure_html("Faster", fmt::format("{:.0f} %", 100 * score.fast_share),
                     "correct and above 1x, of all") +
         figure_html("Aggregated score", fmt::format("{:.3f}", score.aggregated_linear),
                     fmt::format("1 = eager; log10 {:+.4f}", score.aggregated)) +
         figure_html("ES(-5)", fmt::format("{:.3f}", at.es), fmt::format("S(-5) {:.3f}", at.s)) +
         figure_html("Noisy", fmt::format("{}", noisy), "quartiles over 20 % of the median",
                     noisy > 0 ? "doubtful" : "") +
         "</dl>\n";
}

std::string render_ladder(const bench::Score& score) {
  std::string out =
      "<details><summary>the numbers</summary><table class=\"ladder\"><thead><tr><th "
      "class=\"number\">t</th><th class=\"number\">S(t)</th>"
      "<th class=\"number\">ES(t)</th><th class=\"number\">correct</th></tr></thead>\n<tbody>";
  for (const bench::ScorePoint& point : score.points) {
    out += fmt::format(
        "<tr><td class=\"number\">{}</td><td class=\"number\">{:.6f}</td><td class=\"number\">{:.6f}</td>"
        "<td class=\"number\">{:.1f} %</td></tr>\n",
        point.t, point.s, point.es, 100 * point.correct_share);
  }
  return out + "</tbody></table></details>\n";
}

std::string number_cell(double key, bool present, const std::string& content) {
  return fmt::format("<td class=\"number\" data-key=\"{}\">{}</td>", sort_key(key, present),
                     present ? content : "-");
}

std::string times_cell(const bench::Stats& us, bool timed) {
  return number_cell(us.median, timed,
                     fmt::format("{:.4g}<small>{:.4g} to {:.4g}</small>", us.median, us.q1, us.q3));
}

/// An escaped name that may be broken after its slashes.
std::string breakable(std::string_view name) {
  std::string out;
  for (char c : name) {
    out += c;
    if (c == '/') out += "<wbr>";
  }
  return out;
}

/// One table body per graph, so that its details stay with it when rows are sorted.
std::string render_graph(const Row& row) {
  const std::string name = escape_html(row.name);
  std::string out =
      fmt::format("<tbody>\n<tr><td class=\"name\" data-key=\"{}\">{}</td>", name, breakable(name));
  out += fmt::format("<td class=\"verdict {}\" data-key=\"{}\">{}</td>", css_of(row.tone),
                     escape_html(row.headline), escape_html(row.headline));
  out += number_cell(row.ratio, row.ratio > 0 || row.disturbed, fmt::format("{}<small>{}</small>", speedup_text(row), interval_text(row)));
  out += fmt::format("<td>{}</td>", row.ratio > 0 ? render_ratio_svg(row.ratio) : "");
  out += times_cell(row.reference_us, row.timed) + times_cell(row.candidate_us, row.timed);
  out += fmt::format("<td>{}</td>", row.timed ? render_boxes_svg(row.reference_us, row.candidate_us) : "");
  out += number_cell(
      row.noise, row.timed,
      fmt::format("<span class=\"{}\">{:.0f} %</span>", row.noisy ? "doubtful" : "", 100 * row.noise));
  const std::string rung = rung_text(row);
  out += number_cell(row.verdict.passes_from, rung != "-", rung);
  out += number_cell(row.max_abs_diff, row.compared, error_text(row));
  out += number_cell(row.sites, true, sites_text(row)) + "</tr>\n";
  if (!row.problem.empty()) {
    out += fmt::format(
        "<tr><td class=\"why\" "
        "colspan=\"11\"><details><summary>why</summary><pre>{}</pre></details></td></tr>\n",
        escape_html(row.problem));
  }
  return out + "</tbody>\n";
}

std::string render_graphs(const std::vector<Row>& rows) {
  std::string out =
      "<div class=\"wide\"><table id=\"graphs\">\n<thead><tr><th scope=\"col\" data-sort=\"text\">graph</th>"
      "<th scope=\"col\" data-sort=\"text\">verdict</th><th scope=\"col\" class=\"number\" "
      "data-sort=\"number\">ratio</th><th></th>"
      "<th scope=\"col\" class=\"number\" data-sort=\"number\">before us</th>"
      "<th scope=\"col\" class=\"number\" data-sort=\"number\">after us</th><th scope=\"col\">spread</th>"
      "<th scope=\"col\" class=\"number\" data-sort=\"number\">noise</th>"
      "<th scope=\"col\" class=\"number\" data-sort=\"number\">from t</th>"
      "<th scope=\"col\" class=\"number\" data-sort=\"number\">max error</th>"
      "<th scope=\"col\" class=\"number\" data-sort=\"number\">sites</th></tr></thead>\n";
  for (const Row& row : rows) out += render_graph(row);
  return out + "</table></div>\n";
}

}  // namespace

std::string render_html(const std::vector<bench::RunRecord>& records, const bench::Score& score,
                        std::string_view title) {
  const std::vector<Row> rows = rows_of(records);
  const std::string heading = escape_html(title);
  std::string out =
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n";
  fmt::format_to(std::back_inserter(out),
                 "<title>{}: PassNet report</title>\n<style>{}</style>\n</head>\n<body>\n", heading,
                 html_style());
  fmt::format_to(std::back_inserter(out), "<h1>{}</h1>\n<p class=\"quiet\">{}</p>\n", heading,
                 escape_html(conditions(records)));
  if (!records.empty() && !records.front().started.empty()) {
    fmt::format_to(std::back_inserter(out), "<p class=\"quiet\">started {}</p>\n",
                   escape_html(records.front().started));
  }
  out += render_figures(rows, score);
  out += "<h2>Score over tolerance</h2>\n<figure>\n" + render_curve_svg(score) +
         "\n<figcaption>S(t): geometric mean of the speedups, a graph that is wrong at t counting 0.1. ES(t) "
         "is the same up to t = 0; "
         "from t = 1 on it forgives classes of errors one after the other, so its steps show how many graphs "
         "fail and how."
         "</figcaption>\n</figure>\n" +
         render_ladder(score);
  out += "<h2>Graphs</h2>\n" + render_graphs(rows);
  out +=
      "<footer><p>Times are medians of the trials, below them the quartiles, in microseconds; the upper box "
      "is before, the lower "
      "after, whiskers reach at most 1.5 quartile ranges. The bar runs from 1x, an eighth to eight times, on "
      "a logarithmic scale. "
      "from t: the strictest tolerance at which the graph is right. sites a/b: b found, a "
      "replaced.</p></footer>\n";
  fmt::format_to(std::back_inserter(out), "<script>{}</script>\n</body>\n</html>\n", html_script());
  return out;
}

}  // namespace passnet::report
