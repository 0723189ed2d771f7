#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text/strings.h"
#include "record/stats.h"
#include "record/verdict.h"
#include "report/row.h"
#include "report/svg.h"
#include "report/text.h"
#include "site/chart.h"
#include "site/drawing.h"
#include "site/pages.h"

namespace passnet::site {

using report::escape_html;

std::string task_path(const Task& task) { return "tasks/" + task.slug + ".html"; }
std::string entry_path(const Entry& entry) { return "entries/" + entry.slug + ".html"; }
std::string records_path(const Entry& entry, const Task& task) {
  return fmt::format("records/{}/{}/records.jsonl", entry.slug, task.slug);
}

namespace {

size_t correct_of(const Task& task, size_t entry) {
  return static_cast<size_t>(std::ranges::count_if(task.graphs, [&](const Graph& graph) {
    const auto found = graph.records.find(entry);
    return found != graph.records.end() && found->second->compared.side.correct;
  }));
}

/// The entry with the largest speedup of those with the most correct graphs.
std::optional<size_t> best_of(const Board& board, const Task& task) {
  std::optional<size_t> best;
  std::pair<size_t, double> most;
  for (size_t i = 0; i < board.entries.size(); ++i) {
    const std::vector<double> ratios = ratios_of(task, i);
    if (ratios.empty()) continue;
    const std::pair<size_t, double> reached{correct_of(task, i), record::geometric_mean(ratios)};
    if (!best || reached > most) {
      best = i;
      most = reached;
    }
  }
  return best;
}

const char* tone_of_record(const store::Digest& digest) {
  if (digest.left_out != record::LeftOut::No) return "doubtful";
  if (digest.compared.side.correct) return digest.compared.side.headline == "declined" ? "neutral" : "good";
  return digest.compared.side.headline == "inexact" ? "doubtful" : "bad";
}

const std::vector<Heading> kRecordHeadings = {{"entry", "", false},
                                              {"verdict", "", false},
                                              {"speedup", "median before / median after, and its 95 % interval"},
                                              {""},
                                              {"of limit", kLimitTitle},
                                              {"before us", "median"},
                                              {"after us", "median"},
                                              {"max error", "largest difference of an element"},
                                              {"records", "", false}};

std::string render_record(const Board& board, const Task& task, size_t entry, const store::Digest& digest) {
  const Entry& of = board.entries[entry];
  const record::ComparedSide& side = digest.compared.side;
  std::string row =
      "<tr>" + text_cell(fmt::format("<a href=\"../{}\">{}</a>", entry_path(of), report::breakable(of.name)), "entry");
  std::string verdict =
      fmt::format("<span class=\"verdict {}\">{}</span>", tone_of_record(digest), escape_html(side.headline));
  if (!digest.reason.empty()) verdict += fmt::format("<small class=\"reason\">{}</small>", escape_html(digest.reason));
  row += text_cell(verdict, "reason");
  const bool shown = has_ratio(digest);
  row += number_cell(side.speedup, shown, ratio_html(side.speedup, side.interval));
  row += text_cell(shown ? report::render_ratio_svg(side.speedup, side.interval, speed_of(side.interval)) : "", "bar");
  row += digest.limit ? number_cell(store::limit_share(digest), shown,
                                    limit_html(store::limit_share(digest), digest.limit->bound))
                      : number_cell(NAN, shown, "no figure");
  row += number_cell(digest.reference_us, digest.reference_us > 0, microseconds_text(digest.reference_us));
  row += number_cell(digest.candidate_us, digest.candidate_us > 0, microseconds_text(digest.candidate_us));
  row += number_cell(digest.max_error, !digest.dtype.empty(), fmt::format("{:.2g}", digest.max_error));
  return row + text_cell(fmt::format("<a href=\"../{}\">records</a>", records_path(of, task))) + "</tr>\n";
}

std::string render_records(const Board& board, const Task& task) {
  std::string out = "<h2 id=\"graphs\">Graphs</h2>\n" + render_search("record", record_count(task)) +
                    "<div class=\"wide\"><table>\n" + render_head(kRecordHeadings);
  for (const Graph& graph : task.graphs) {
    out += fmt::format(
        "<tbody id=\"{}\"><tr class=\"graph\"><th colspan=\"{}\" scope=\"colgroup\">{}<small>{}</small></th></tr>\n",
        graph.slug, kRecordHeadings.size(), report::breakable(graph.name),
        escape_html(graph.kind.empty() ? graph.dtype : graph.dtype + ", " + graph.kind));
    for (const auto& [entry, digest] : graph.records) out += render_record(board, task, entry, *digest);
    out += "</tbody>\n";
  }
  return out + "</table></div>\n";
}

std::string render_task_chart(const Board& board, const Task& task) {
  std::vector<report::SpeedMark> marks;
  for (size_t i = 0; i < board.entries.size(); ++i) {
    if (const std::optional<TaskSpeed> speed = speed_on(task, i))
      marks.push_back({board.entries[i].name, "../" + entry_path(board.entries[i]), speed->ratio, speed->interval,
                       speed_of(speed->interval)});
  }
  return render_ratio_chart(std::move(marks), "speedup over eager",
                            "Geometric mean of the correct graphs, and of the ends of their 95 % intervals.");
}

}  // namespace

size_t record_count(const Task& task) {
  size_t count = 0;
  for (const Graph& graph : task.graphs) count += graph.records.size();
  return count;
}

std::optional<TaskSpeed> speed_on(const Task& task, size_t entry) {
  std::vector<double> ratios, lows, highs, shares;
  for (const Graph& graph : task.graphs) {
    const auto found = graph.records.find(entry);
    if (found == graph.records.end() || !has_ratio(*found->second)) continue;
    const record::ComparedSide& side = found->second->compared.side;
    ratios.push_back(side.speedup);
    lows.push_back(side.interval.known() ? side.interval.low : side.speedup);
    highs.push_back(side.interval.known() ? side.interval.high : side.speedup);
    if (const double share = store::limit_share(*found->second); share > 0) shares.push_back(share);
  }
  if (ratios.empty()) return std::nullopt;
  return TaskSpeed{record::geometric_mean(ratios),
                   {record::geometric_mean(lows), record::geometric_mean(highs)},
                   shares.empty() ? 0 : record::geometric_mean(shares),
                   correct_of(task, entry)};
}

std::string render_tasks(const Board& board) {
  std::string out = fmt::format("<h1>Tasks</h1>\n<p class=\"quiet\">{}, {}.</p>\n", counted(board.tasks.size(), "task"),
                                counted(board.records, "record")) +
                    render_search("task", board.tasks.size()) + "<div class=\"wide\"><table>\n" +
                    render_head({{"task", "", false},
                                 {"graphs"},
                                 {"records"},
                                 {"best entry", "most graphs correct, then the largest speedup", false},
                                 {"correct", "graphs of the best entry"},
                                 {"speedup", "of the best entry, geometric mean of the correct graphs"},
                                 {""},
                                 {"of limit", "share of the machine's limit that the best entry reaches"}}) +
                    "<tbody>\n";
  for (const Task& task : board.tasks) {
    out += fmt::format("<tr id=\"{}\">", task.slug) +
           text_cell(fmt::format("<a href=\"{}\">{}</a>", task_path(task), report::breakable(task.name)), "entry") +
           number_cell(static_cast<double>(task.graphs.size()), true, fmt::format("{}", task.graphs.size())) +
           number_cell(static_cast<double>(record_count(task)), true, fmt::format("{}", record_count(task)));
    const std::optional<size_t> best = best_of(board, task);
    const std::optional<TaskSpeed> speed = best ? speed_on(task, *best) : std::nullopt;
    out += text_cell(best ? fmt::format("<a href=\"{}\">{}</a>", entry_path(board.entries[*best]),
                                        report::breakable(board.entries[*best].name))
                          : "-");
    out += number_cell(speed ? static_cast<double>(speed->correct) : 0, speed.has_value(),
                       fmt::format("{}", speed ? speed->correct : 0));
    out += number_cell(speed ? speed->ratio : 0, speed.has_value(),
                       speed ? ratio_html(speed->ratio, speed->interval) : "");
    out += text_cell(speed ? report::render_ratio_svg(speed->ratio, speed->interval, speed_of(speed->interval)) : "",
                     "bar");
    const double share = speed ? speed->limit : 0;
    out += number_cell(share, share > 0, percent_text(share)) + "</tr>\n";
  }
  return out + "</tbody></table></div>\n";
}

std::string render_task(const Board& board, const Task& task, const std::map<size_t, report::SampleSources>& sources) {
  return fmt::format("<h1>{}</h1>\n<p class=\"quiet\">{} of {}.</p>\n", report::breakable(task.name),
                     counted(task.graphs.size(), "graph"), counted_entries(board)) +
         render_task_chart(board, task) + render_records(board, task) + render_sources(board, task, sources);
}

}  // namespace passnet::site
