#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <nlohmann/json.hpp>

#include "base/text/strings.h"
#include "record/score/compare.h"
#include "report/compare.h"
#include "report/html/rows.h"
#include "report/text.h"
#include "site/chart.h"
#include "site/pages.h"

namespace passnet::site {

using record::Change;
using record::Comparison;
using report::escape_html;

std::string pair_path(const Entry& a, const Entry& b) { return fmt::format("compare/{}--{}.html", a.slug, b.slug); }

namespace {

/// Rows of a page at most; what somebody has to look at comes first.
constexpr size_t kMostRows = 500;

struct Compared {
  record::RunComparison runs;
  std::map<const Task*, std::vector<double>> ratios;  // B / A, of graphs that have a ratio in both
  Estimate speed;
};

Compared compared(const Board& board, const Pair& pair) {
  Compared result;
  for (const Task& task : board.tasks) {
    for (const Graph& graph : task.graphs) {
      const auto a = graph.records.find(pair.first), b = graph.records.find(pair.second);
      if (a == graph.records.end() || b == graph.records.end()) continue;
      result.runs.graphs.push_back(record::compare(a->second->compared, b->second->compared));
      if (has_ratio(*a->second) && has_ratio(*b->second))
        result.ratios[&task].push_back(b->second->compared.side.speedup / a->second->compared.side.speedup);
    }
  }
  Ratios by_name;
  for (const auto& [task, ratios] : result.ratios) by_name[task->name] = ratios;
  result.speed = estimate(by_name);
  return result;
}

std::string bounds_text(const Estimate& speed) {
  return speed.interval.known() ? fmt::format("{:.2f} to {:.2f}", speed.interval.low, speed.interval.high)
                                : std::string("no interval of one task");
}

/// What the figures show, in a sentence.
std::string conclusion(const Entry& a, const Entry& b, const Estimate& speed) {
  if (speed.tasks == 0) return "No graph has a speedup in both.";
  const std::string figures = fmt::format("{:.3f}x ({}) over {}, {}", speed.ratio, bounds_text(speed),
                                          counted(speed.tasks, "task"), counted(speed.graphs, "graph"));
  if (!speed.differs()) return "No difference is shown: " + figures + ".";
  const bool faster = speed.ratio > 1;
  return fmt::format("{} is {} than {}: {}.", b.name, faster ? "faster" : "slower", a.name, figures);
}

std::string render_pair_chart(const Compared& found) {
  std::vector<report::SpeedMark> marks;
  for (const auto& [task, ratios] : found.ratios) {
    const Estimate one = estimate({{task->name, ratios}});
    const auto [low, high] = std::ranges::minmax(ratios);
    const record::Interval range{low, high};
    marks.push_back({task->name, "../" + task_path(*task), one.ratio, range, speed_of(range)});
  }
  constexpr size_t kMost = 60;
  std::string caption =
      "Speedup in B over speedup in A: geometric mean of each task's graphs, and the least and the largest of them.";
  if (marks.size() > kMost) {
    std::ranges::sort(marks, std::greater<>(),
                      [](const report::SpeedMark& mark) { return std::max(mark.ratio, 1 / mark.ratio); });
    marks.resize(kMost);
    caption += fmt::format(" The {} tasks that differ most.", kMost);
  }
  return render_ratio_chart(std::move(marks), "speedup in B / speedup in A", caption);
}

report::Facts counts_of(const record::RunComparison& runs) {
  report::Facts facts;
  for (int i = 0; i < record::kChanges; ++i) {
    if (const int count = runs.count(static_cast<Change>(i)); count > 0)
      facts.emplace_back(to_string(static_cast<Change>(i)), fmt::format("{}", count));
  }
  return facts;
}

}  // namespace

std::vector<Pair> pairs_of(const Board& board) {
  std::vector<Pair> pairs, few;
  for (size_t a = 0; a < board.entries.size(); ++a) {
    for (size_t b = a + 1; b < board.entries.size(); ++b) {
      if (board.entries[a].hardware != board.entries[b].hardware) break;
      pairs.emplace_back(a, b);
      if (board.entries[a].rank == 1 || b == a + 1) few.emplace_back(a, b);
    }
  }
  return pairs.size() > kMostPairs ? few : pairs;
}

PairPage render_pair(const Board& board, const Pair& pair) {
  const Entry &a = board.entries[pair.first], &b = board.entries[pair.second];
  Compared found = compared(board, pair);
  const size_t total = found.runs.graphs.size();
  const report::Facts counts = counts_of(found.runs);
  const std::string table = report::render_comparison_table(found.runs, kMostRows);
  std::string out = fmt::format(
      "<h1>{} and {}</h1>\n<p class=\"quiet\">A: <a href=\"../{}\">{}</a>. B: <a href=\"../{}\">{}</a>.</p>\n"
      "<p>{}</p>\n",
      report::breakable(a.name), report::breakable(b.name), entry_path(a), report::breakable(a.name), entry_path(b),
      report::breakable(b.name), escape_html(conclusion(a, b, found.speed)));
  out += "<p class=\"quiet\">Tasks count alike; the 95 % interval is Student&#39;s over their logarithms.</p>\n" +
         report::render_facts(counts);
  if (const std::string chart = render_pair_chart(found); !chart.empty()) out += "<h2>Tasks</h2>\n" + chart;
  out += fmt::format(
      "<h2>Graphs</h2>\n<p class=\"quiet\">{} in both{}. FASTER and SLOWER: the 95 % intervals do not overlap. SAME: "
      "the "
      "change is below 10 % whatever is true within them. UNCLEAR: neither.</p>\n",
      total, total > kMostRows ? fmt::format("; the {} worst are shown", kMostRows) : "");
  return {out + table, found.speed};
}

std::string render_pairs(const Board& board, const std::map<Pair, Estimate>& speeds) {
  Json pages = Json::object();
  for (const auto& [pair, speed] : speeds) {
    const Entry &a = board.entries[pair.first], &b = board.entries[pair.second];
    pages[a.slug + "|" + b.slug] = pair_path(a, b);
  }
  std::string options, head, rows;
  for (const Entry& entry : board.entries)
    options += fmt::format("<option value=\"{}\">{}</option>", entry.slug, escape_html(entry.name));
  std::string out = "<h1>Compare</h1>\n<form id=\"pair\" class=\"filters pair\" hidden><label>A <select name=\"a\">" +
                    options + "</select></label><label>B <select name=\"b\">" + options +
                    "</select></label><button>compare</button><output aria-live=\"polite\"></output></form>\n";
  out += script_json("pairs", pages);
  if (speeds.empty()) return out + "<p class=\"quiet\">No two entries are of one device.</p>\n";
  out +=
      "<p class=\"quiet\">Speedup of the lower-ranked entry (B) over that of the higher-ranked (A), on graphs that "
      "both have right, with its 95 % interval "
      "by tasks.</p>\n<div class=\"wide\"><table>\n" +
      render_head({{"A", "", false}, {"B", "", false}, {"B / A"}, {"tasks"}, {"", ""}}) + "<tbody>\n";
  for (const auto& [pair, speed] : speeds) {
    const Entry &a = board.entries[pair.first], &b = board.entries[pair.second];
    out += "<tr>" + text_cell(report::breakable(a.name), "entry") + text_cell(report::breakable(b.name), "entry") +
           number_cell(speed.ratio, speed.ratio > 0, ratio_html(speed.ratio, speed.interval)) +
           number_cell(static_cast<double>(speed.tasks), true, fmt::format("{}", speed.tasks)) +
           text_cell(fmt::format("<a href=\"{}\">{}</a>", pair_path(a, b),
                                 speed.differs() ? "they differ" : "no difference shown")) +
           "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace passnet::site
