#include <fmt/format.h>

#include <algorithm>

#include "base/text/strings.h"
#include "report/html/page.h"
#include "report/html/rows.h"
#include "report/row.h"
#include "report/summary.h"
#include "report/svg.h"
#include "report/text.h"
#include "site/chart.h"
#include "site/pages.h"

namespace passnet::site {

using report::escape_html;

namespace {

/// Marks of a chart at most: of more tasks each n-th is drawn.
constexpr size_t kMostMarks = 1000;

std::string counts_text(const std::map<std::string, size_t>& counts) {
  std::string text;
  for (const auto& [word, count] : counts) text += fmt::format("{}{} {}", text.empty() ? "" : ", ", count, word);
  return text;
}

report::Facts facts_of(const Entry& entry) {
  const Slice& all = entry.all();
  report::Facts facts{{"device", entry.hardware},
                      {"compiler", entry.compiler},
                      {"isolation", entry.isolation},
                      {"PassNet", entry.version},
                      {"started", entry.started},
                      {"evaluated in", fmt::format("{:.0f} s", entry.seconds)},
                      {"verdicts", counts_text(entry.headlines)},
                      {"in no score", counts_text(entry.left_out)},
                      {"over all", report::reach_text(all.summary)},
                      {"other scores", report::other_scores_text(all.summary, all.score)}};
  if (entry.dollars) facts.emplace_back("cost", fmt::format("${:.2f}", *entry.dollars));
  if (entry.speed.tasks > 1)
    facts.emplace_back("speedup by task",
                       fmt::format("{:.2f}x ({:.2f} to {:.2f}) over {} tasks", entry.speed.ratio,
                                   entry.speed.interval.low, entry.speed.interval.high, entry.speed.tasks));
  if (all.limit > 0) facts.emplace_back("of the machine's limit", percent_text(all.limit));
  std::erase_if(facts, [](const report::Fact& fact) { return fact.second.empty(); });
  return facts;
}

struct TaskRow {
  const Task* task;
  std::optional<TaskSpeed> speed;
  size_t records = 0, correct = 0;
  std::string worst;  // headline of the first graph that is not correct
};

std::vector<TaskRow> rows_of(const Board& board, size_t entry) {
  std::vector<TaskRow> rows;
  for (const Task& task : board.tasks) {
    if (!task.files.contains(entry)) continue;
    TaskRow row{&task, speed_on(task, entry), 0, 0, ""};
    for (const Graph& graph : task.graphs) {
      const auto found = graph.records.find(entry);
      if (found == graph.records.end()) continue;
      ++row.records;
      if (found->second->compared.side.correct)
        ++row.correct;
      else if (row.worst.empty())
        row.worst = found->second->compared.side.headline;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

std::string render_tasks_chart(const std::vector<TaskRow>& rows) {
  std::vector<report::SpeedMark> marks;
  for (const TaskRow& row : rows) {
    if (row.speed)
      marks.push_back({row.task->name, "../" + task_path(*row.task), row.speed->ratio, row.speed->interval,
                       speed_of(row.speed->interval)});
  }
  std::string caption = "Geometric mean of each task's correct graphs, and of the ends of their 95 % intervals.";
  if (marks.size() > kMostMarks) {
    std::ranges::sort(marks, {}, &report::SpeedMark::ratio);
    const size_t step = (marks.size() + kMostMarks - 1) / kMostMarks;
    std::vector<report::SpeedMark> some;
    for (size_t i = 0; i < marks.size(); i += step) some.push_back(std::move(marks[i]));
    caption += fmt::format(" One of {} tasks is drawn.", step);
    marks = std::move(some);
  }
  const std::string chart = render_ratio_chart(std::move(marks), "speedup over eager", caption);
  return chart.empty() ? "" : "<h2 id=\"speedups\">Speedups</h2>\n" + chart;
}

std::string render_rows(const Entry& entry, const std::vector<TaskRow>& rows) {
  std::string out = "<h2 id=\"tasks\">Tasks</h2>\n" + render_search("task", rows.size()) +
                    "<div class=\"wide\"><table>\n" +
                    render_head({{"task", "", false},
                                 {"correct", "of the graphs with a record"},
                                 {"speedup", "geometric mean of the correct graphs"},
                                 {""},
                                 {"of limit", "share of the machine's limit"},
                                 {"not correct", "verdict of the first such graph", false},
                                 {"records", "", false}}) +
                    "<tbody>\n";
  for (const TaskRow& row : rows) {
    const double ratio = row.speed ? row.speed->ratio : 0, limit = row.speed ? row.speed->limit : 0;
    out +=
        fmt::format("<tr id=\"{}\">", row.task->slug) +
        text_cell(fmt::format("<a href=\"../{}\">{}</a>", task_path(*row.task), report::breakable(row.task->name)),
                  "entry") +
        number_cell(static_cast<double>(row.correct) / static_cast<double>(row.records), true,
                    fmt::format("{} of {}", row.correct, row.records)) +
        number_cell(ratio, ratio > 0, row.speed ? ratio_html(ratio, row.speed->interval) : "") +
        text_cell(row.speed ? report::render_ratio_svg(ratio, row.speed->interval, speed_of(row.speed->interval)) : "",
                  "bar") +
        number_cell(limit, limit > 0, percent_text(limit)) + text_cell(escape_html(row.worst), "reason") +
        text_cell(fmt::format("<a href=\"../{}\">records</a>", records_path(entry, *row.task))) + "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

}  // namespace

std::string render_entry(const Board& board, size_t position) {
  const Entry& entry = board.entries[position];
  const std::vector<TaskRow> rows = rows_of(board, position);
  return fmt::format("<h1>{}</h1>\n<p class=\"quiet\">Rank {} on {}.</p>\n", report::breakable(entry.name), entry.rank,
                     escape_html(entry.hardware)) +
         report::render_figures(entry.all().score) + report::render_facts(facts_of(entry)) + render_tasks_chart(rows) +
         render_rows(entry, rows) + report::render_score(entry.all().score);
}

}  // namespace passnet::site
