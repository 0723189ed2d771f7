#include "report/html/page.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <map>

#include "record/score/summary.h"
#include "report/html/rows.h"
#include "report/html_style.h"
#include "report/summary.h"
#include "report/svg.h"
#include "report/text.h"

namespace passnet::report {

namespace {

std::string figure_html(const char* name, const std::string& value, const std::string& note, const char* css = "") {
  return fmt::format("<div><dt>{}</dt><dd class=\"{}\">{}<small>{}</small></dd></div>\n", name, css, value, note);
}

std::vector<GraphEntry> entries_of(const std::vector<record::RunRecord>& records, std::vector<Facts> facts) {
  std::vector<Row> rows = rows_of(records);
  std::vector<GraphEntry> entries;
  for (size_t i = 0; i < records.size(); ++i) {
    const Speed speed = speed_of(rows[i]);
    entries.push_back({&records[i], std::move(rows[i]), speed, std::move(facts[i]), fmt::format("g{}", i)});
  }
  return entries;
}

/// Graphs that have no figure, or one to be careful with, and why.
Facts doubtful_facts(const std::vector<GraphEntry>& entries) {
  Facts facts;
  const auto add = [&](const char* name, const char* note, auto&& is_one) {
    if (const auto count = std::ranges::count_if(entries, is_one); count > 0)
      facts.emplace_back(name, fmt::format("{}: {}", count, note));
  };
  add("noisy", "their quartiles are more than 20 % of the median apart",
      [](const GraphEntry& entry) { return entry.speed != Speed::None && entry.row.noisy; });
  add("disturbed", "other processes held the processors; without a speedup, in no score",
      [](const GraphEntry& entry) { return entry.row.disturbed; });
  add("unranked", "in no score; each graph says why", [](const GraphEntry& entry) {
    const Row& row = entry.row;
    return row.unranked || row.no_work || row.host_code || row.below_floor || row.uneven;
  });
  return facts;
}

/// Lists figures that limit what the score, the speedup and the count of correct graphs say.
std::string render_beside_score(const std::vector<GraphEntry>& entries, const record::Score& score,
                                const record::Summary& summary) {
  std::map<Speed, size_t> speeds;
  for (const GraphEntry& entry : entries) ++speeds[entry.speed];
  Facts facts{{"speed", fmt::format("{} faster, {} no difference, {} slower", speeds[Speed::Faster],
                                    speeds[Speed::Same], speeds[Speed::Slower])},
              {"over all", reach_text(summary)}};
  if (std::string others = other_scores_text(summary, score); !others.empty())
    facts.emplace_back("score", std::move(others));
  for (Fact& fact : doubtful_facts(entries)) facts.push_back(std::move(fact));
  return render_facts(facts);
}

/// What is not in the drawing of speedups, in words.
std::string render_without_speedup(const std::vector<GraphEntry>& entries) {
  std::map<std::string, size_t> counts;
  size_t total = 0;
  for (const GraphEntry& entry : entries) {
    if (entry.speed != Speed::None) continue;
    ++total;
    ++counts[entry.row.disturbed && entry.row.problem.empty() ? "disturbed" : entry.row.headline];
  }
  if (total == 0) return {};
  std::string text;
  for (const auto& [word, count] : counts)
    text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, escape_html(word));
  return fmt::format("<p>Without a speedup: {}.</p>\n", text);
}

std::string render_speedups(const std::vector<GraphEntry>& entries) {
  std::vector<SpeedMark> marks;
  for (const GraphEntry& entry : entries) {
    if (entry.speed != Speed::None)
      marks.push_back({entry.row.name, entry.id, entry.row.ratio, entry.row.interval, entry.speed});
  }
  std::string out = "<h2 id=\"speedups\">Speedups</h2>\n";
  if (!marks.empty()) {
    out +=
        "<figure>\n<p class=\"legend\"><span class=\"faster\">● faster</span> <span class=\"same\">○ no "
        "difference</span> "
        "<span class=\"slower\">■ slower</span> <span class=\"quiet\">with its 95 % interval; before / after, correct "
        "graphs only"
        "</span></p>\n" +
        render_speedups(std::move(marks)) + "\n</figure>\n";
  }
  return out + render_without_speedup(entries);
}

std::string render_ladder(const record::Score& score) {
  std::string out =
      "<details><summary>the numbers</summary><table class=\"ladder\"><thead><tr><th class=\"number\">t</th>"
      "<th class=\"number\">S(t)</th><th class=\"number\">ES(t)</th><th "
      "class=\"number\">correct</th></tr></thead>\n<tbody>";
  for (const record::ScorePoint& point : score.points) {
    out += fmt::format(
        "<tr><td class=\"number\">{}</td><td class=\"number\">{:.6f}</td><td class=\"number\">{:.6f}</td>"
        "<td class=\"number\">{:.1f} %</td></tr>\n",
        point.t, point.s, point.es, 100 * point.correct_share);
  }
  return out + "</tbody></table></details>\n";
}

/// "PassNet 0.1.0, commit ab12; 2026-11-28", by the first record that has them.
std::string origin_text(const std::vector<record::RunRecord>& records) {
  std::string text = "PassNet";
  for (const record::RunRecord& record : records) {
    if (!record.provenance || !record.provenance->versions.contains("passnet")) continue;
    text += " " + record.provenance->versions.at("passnet");
    break;
  }
  if (!records.empty() && !records.front().started.empty()) text += "; " + records.front().started;
  return text;
}

std::string render_head(const std::vector<record::RunRecord>& records, const std::vector<GraphEntry>& entries,
                        std::string_view title) {
  const std::string heading = escape_html(title);
  std::string out = fmt::format(
      "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
      "<meta name=\"viewport\" content=\"width=device-width, initial-scale=1\">\n<title>{0}: PassNet report</title>\n"
      "<style>{1}</style>\n</head>\n<body>\n<h1>{0}</h1>\n<p class=\"quiet\">{2}</p>\n<p class=\"quiet\">{3}</p>\n",
      heading, html_style(), escape_html(origin_text(records)), escape_html(conditions(records)));
  std::vector<Row> rows;
  for (const GraphEntry& entry : entries) rows.push_back(entry.row);
  if (const std::string controls = controls_text(rows); !controls.empty())
    out += fmt::format("<p class=\"quiet\">A/A control, the same graph on both sides: {}</p>\n", escape_html(controls));
  if (const std::string surplus = surplus_text(rows); !surplus.empty())
    out += fmt::format("<p class=\"quiet\">Passes left out: {}</p>\n", escape_html(surplus));
  if (const std::string called = library_text(rows); !called.empty())
    out += fmt::format("<p class=\"quiet\">Library calls: {}</p>\n", escape_html(called));
  return out;
}

constexpr const char* kNotes =
    "<footer><p>Times are medians of the trials, below them the quartiles, in microseconds. The bar of a line runs "
    "from 1x to the "
    "speedup, an eighth to eight times, on a logarithmic scale; a double arrow says that it goes on. noise: the "
    "distance of the "
    "quartiles, of the median. from t: the strictest tolerance at which the graph is right. sites a/b: b found, a "
    "replaced. What is "
    "not correct at t = -5 has no speedup, and what was disturbed has no number.</p></footer>\n";

}  // namespace

std::string render_figures(const record::Score& score) {
  const char* correct_css = score.total == 0 ? "" : score.correct == score.total ? "good" : "bad";
  std::string note = "1 = eager";
  if (const std::string why = below_speedup_text(score); !why.empty()) note += "; " + why;
  return "<dl class=\"figures\">\n" +
         figure_html("Correct", fmt::format("{} of {}", score.correct, score.total),
                     "within PyTorch&#39;s usual tolerance (t = -5)", correct_css) +
         figure_html("Speedup", ratio_text(score.geomean_speedup.value_or(0)), "geometric mean of the correct graphs") +
         figure_html("Score", fmt::format("{:.3f}", score.aggregated_linear), note) + "</dl>\n";
}

std::string render_score(const record::Score& score) {
  return "<h2 id=\"score\">Score over tolerance</h2>\n<figure>\n<div class=\"wide\">" + render_curve_svg(score) +
         "</div>\n<figcaption>S(t): geometric mean of the speedups, a graph that is wrong at t counting 0.1. ES(t) is "
         "the "
         "same up to "
         "t = 0; from t = 1 on it forgives classes of errors one after the other, so its steps show how many graphs "
         "fail and how."
         "</figcaption>\n</figure>\n" +
         render_ladder(score);
}

std::string render_html(const std::vector<record::RunRecord>& records, const record::Score& score,
                        std::string_view title, const Sources& sources) {
  std::vector<Facts> facts;
  for (const record::RunRecord& record : records) facts.push_back(facts_of(record));
  const Facts common = take_common(facts);
  std::vector<GraphEntry> entries = entries_of(records, std::move(facts));
  std::string out = render_head(records, entries, title) + render_figures(score) +
                    render_beside_score(entries, score, record::summary_of(records)) + render_speedups(entries);
  HtmlTexts texts;
  out += "<h2>Graphs</h2>\n" + render_groups(group_entries(std::move(entries)), sources, texts) + render_score(score);
  if (!common.empty()) out += "<h2 id=\"how\">How it was measured</h2>\n" + render_facts(common);
  out += texts.render() + kNotes;
  fmt::format_to(std::back_inserter(out), "<script>{}</script>\n</body>\n</html>\n", html_script());
  return out;
}

}  // namespace passnet::report
