#include <fmt/format.h>

#include <array>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>

#include "base/text/strings.h"
#include "record/stats.h"
#include "report/row.h"
#include "report/speed.h"
#include "report/text.h"
#include "site/chart.h"
#include "site/pages.h"

namespace passnet::site {

using report::escape_html;

namespace {

/// A figure of a slice: what it is sorted by, and its text.
struct Figure {
  std::optional<double> key;
  std::string text;
};

std::string share_text(int part, int total) { return total == 0 ? "-" : fmt::format("{:.0f} %", 100.0 * part / total); }

/// Columns that depend on kind and element type, in the order of kBoardHeadings.
using Figures = std::array<Figure, 7>;
Figures figures_of(const Slice& slice) {
  const record::Score& score = slice.score;
  const record::Summary& summary = slice.summary;
  const bool any = score.total > 0;
  const auto share = [&](int part) {
    return Figure{any ? std::optional(summary.share(part)) : std::nullopt, share_text(part, summary.total)};
  };
  const int abstained = summary.reach->declined + summary.reach->unmatched;
  return {Figure{any ? std::optional(score.aggregated_linear) : std::nullopt,
                 any ? fmt::format("{:.3f}", score.aggregated_linear) : "-"},
          Figure{any ? std::optional(score.correct_share) : std::nullopt,
                 any ? fmt::format("{} of {}", score.correct, score.total) : "-"},
          share(summary.fast),
          Figure{score.geomean_speedup, report::ratio_text(score.geomean_speedup.value_or(0))},
          Figure{slice.limit > 0 ? std::optional(slice.limit) : std::nullopt, percent_text(slice.limit)},
          share(summary.reach->applied),
          Figure{any ? std::optional<double>(abstained) : std::nullopt, any ? fmt::format("{}", abstained) : "-"}};
}

const std::vector<Heading> kBoardHeadings = {{"rank", "among entries of the same device"},
                                             {"entry", "", false},
                                             {"score", "aggregated score: 1 is eager"},
                                             {"correct", "within PyTorch's usual tolerance, of the graphs that count"},
                                             {"fast_1", "correct and faster than eager"},
                                             {"speedup", "geometric mean of the correct graphs"},
                                             {"of limit", kLimitTitle},
                                             {"coverage", "graphs in which a pass replaced something"},
                                             {"abstained", "graphs that the passes left alone"},
                                             {"cost", "of the language model, in dollars"},
                                             {"isolation", "how kernels were confined", false},
                                             {"device", "", false}};
constexpr size_t kFirstFigure = 2;

std::string render_row(const Entry& entry) {
  std::string row = fmt::format("<tr id=\"{}\" data-device=\"{}\" data-compiler=\"{}\">", entry.slug,
                                escape_html(entry.hardware), escape_html(entry.compiler));
  row += number_cell(static_cast<double>(entry.rank), true, fmt::format("{}", entry.rank));
  row += text_cell(fmt::format("<a href=\"{}\">{}</a><small class=\"quiet\">{} graphs, {}</small>", entry_path(entry),
                               report::breakable(entry.name), entry.all().records, escape_html(entry.compiler)),
                   "entry");
  for (const Figure& figure : figures_of(entry.all()))
    row += number_cell(figure.key.value_or(0), figure.key.has_value(), figure.text);
  row += number_cell(entry.dollars.value_or(0), entry.dollars.has_value(),
                     fmt::format("${:.2f}", entry.dollars.value_or(0)));
  return row + text_cell(escape_html(entry.isolation.empty() ? "-" : entry.isolation)) +
         text_cell(escape_html(entry.hardware), "words") + "</tr>\n";
}

std::string render_options(const char* name, const char* label, const std::set<std::string>& values) {
  std::string out = fmt::format("<label>{} <select name=\"{}\"><option value=\"\">all</option>", label, name);
  for (const std::string& value : values) out += fmt::format("<option value=\"{0}\">{0}</option>", escape_html(value));
  return out + "</select></label>";
}

std::string render_filters(const Board& board) {
  std::set<std::string> devices, compilers;
  for (const Entry& entry : board.entries) {
    devices.insert(entry.hardware);
    compilers.insert(entry.compiler);
  }
  return "<form class=\"filters\" data-board=\"board\" hidden><label>Search <input type=\"search\" "
         "name=\"text\"></label>" +
         render_options("device", "Device", devices) + render_options("compiler", "Compiler", compilers) +
         (board.kinds.empty() ? "" : render_options("kind", "Kind", {board.kinds.begin(), board.kinds.end()})) +
         render_options("dtype", "Element type", {board.dtypes.begin(), board.dtypes.end()}) +
         fmt::format("<output aria-live=\"polite\">{}</output></form>\n", counted_entries(board));
}

/// Figures of each slice as data of the page, null for one without records. Text of ours only, but for kinds, element
/// types and ids, which are made safe.
std::string render_data(const Board& board) {
  Json entries = Json::object();
  for (const Entry& entry : board.entries) {
    Json slices = Json::array();
    for (const Slice& slice : entry.slices) {
      Json& figures = slices.emplace_back();
      if (slice.records == 0) continue;
      for (const Figure& figure : figures_of(slice))
        figures.push_back({figure.key ? Json(record::round6(*figure.key)) : Json(), figure.text});
    }
    entries[entry.slug] = std::move(slices);
  }
  return script_json("board", {{"first", kFirstFigure},
                               {"figures", std::tuple_size_v<Figures>},
                               {"kinds", board.kinds},
                               {"dtypes", board.dtypes},
                               {"entries", std::move(entries)}});
}

std::string render_entries_chart(const Board& board) {
  std::vector<report::SpeedMark> marks;
  for (const Entry& entry : board.entries) {
    if (entry.speed.ratio <= 0) continue;
    record::Interval interval = entry.speed.interval;
    if (!interval.known()) interval = {entry.speed.ratio, entry.speed.ratio};
    marks.push_back({entry.name, entry_path(entry), entry.speed.ratio, interval, speed_of(interval)});
  }
  const std::string chart = render_ratio_chart(
      std::move(marks), "speedup over eager",
      "Geometric mean of the speedup over tasks, of correct graphs, with its 95 % interval by tasks.");
  return chart.empty() ? "" : "<h2 id=\"speedups\">Speedups</h2>\n" + chart;
}

}  // namespace

Json board_json(const Board& board) {
  Json entries = Json::array();
  for (const Entry& entry : board.entries) {
    Json slices = Json::array();
    for (const Slice& slice : entry.slices) {
      if (slice.records == 0) continue;
      slices.push_back({{"kind", slice.kind.empty() ? Json() : Json(slice.kind)},
                        {"dtype", slice.dtype.empty() ? Json() : Json(slice.dtype)},
                        {"records", slice.records},
                        {"counted", slice.score.total},
                        {"correct", slice.score.correct},
                        {"fast", slice.summary.fast},
                        {"applied", slice.summary.reach->applied},
                        {"declined", slice.summary.reach->declined},
                        {"unmatched", slice.summary.reach->unmatched},
                        {"speedup", slice.score.geomean_speedup ? Json(*slice.score.geomean_speedup) : Json()},
                        {"score", slice.score.aggregated_linear},
                        {"limit_share", slice.limit > 0 ? Json(slice.limit) : Json()}});
    }
    entries.push_back({{"entry", valid_utf8(entry.name)},
                       {"rank", entry.rank},
                       {"compiler", valid_utf8(entry.compiler)},
                       {"device", valid_utf8(entry.hardware)},
                       {"isolation", entry.isolation},
                       {"version", valid_utf8(entry.version)},
                       {"started", valid_utf8(entry.started)},
                       {"dollars", entry.dollars ? Json(*entry.dollars) : Json()},
                       {"seconds", entry.seconds},
                       {"records", "records/" + entry.slug},
                       {"slices", std::move(slices)}});
  }
  return {{"entries", std::move(entries)}};
}

std::string render_index(const Board& board) {
  std::string rows;
  for (const Entry& entry : board.entries) rows += render_row(entry);
  return fmt::format(
             "<h1>Leaderboard</h1>\n<p class=\"quiet\">{}, {}, {}. Scores of different devices are not "
             "comparable.</p>\n",
             counted_entries(board), counted(board.tasks.size(), "task"), counted(board.records, "record")) +
         render_filters(board) + "<div class=\"wide\"><table>\n" + render_head(kBoardHeadings) + "<tbody>\n" + rows +
         "</tbody></table></div>\n" + render_data(board) + render_entries_chart(board) +
         "<h2 id=\"downloads\">Downloads</h2>\n<p class=\"downloads\"><a href=\"data/board.json\">this table as "
         "JSON</a><a href=\"data/graphs.jsonl\">a line for each record (JSONL)</a></p>\n"
         "<p class=\"quiet\">Records lie in records/ENTRY as they were written: <code>passnet verify "
         "records/ENTRY</code> checks them, <code>passnet score records/ENTRY</code> counts anew. Parquet: "
         "<code>duckdb "
         "-c \"COPY (FROM 'data/graphs.jsonl') TO 'graphs.parquet'\"</code>.</p>\n";
}

}  // namespace passnet::site
