#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

#include "base/text/strings.h"
#include "report/row.h"
#include "report/text.h"
#include "site/chart.h"
#include "site/pages.h"

namespace passnet::site {

using report::escape_html;

namespace {

/// Runs that may be compared: of the same graphs, on the same hardware, by the same compiler.
using Series = std::map<std::tuple<std::string, std::string, std::string>, std::vector<const store::StoredRun*>>;

Series series_of(const std::vector<store::StoredRun>& runs) {
  Series series;
  for (const store::StoredRun& run : runs) series[{run.hardware, run.compiler, run.graphs}].push_back(&run);
  for (auto& [key, of_series] : series)
    std::ranges::stable_sort(of_series, {}, [](const store::StoredRun* run) { return run->started; });
  return series;
}

std::string render_run(const Board& board, const store::StoredRun& run) {
  const auto entry = std::ranges::find_if(board.entries, [&](const Entry& one) { return one.name == run.name; });
  const std::string name = entry == board.entries.end()
                               ? report::breakable(run.name)
                               : fmt::format("<a href=\"{}\">{}</a>", entry_path(*entry), report::breakable(run.name));
  return "<tr>" + text_cell(escape_html(run.started)) + text_cell(name, "entry") +
         number_cell(run.score, run.counted > 0, fmt::format("{:.3f}", run.score)) +
         number_cell(static_cast<double>(run.correct), run.counted > 0,
                     fmt::format("{} of {}", run.correct, run.counted)) +
         number_cell(run.speedup.value_or(0), run.speedup.has_value(), report::ratio_text(run.speedup.value_or(0))) +
         text_cell(escape_html(run.version)) + "</tr>\n";
}

}  // namespace

std::string render_history(const Board& board, const std::vector<store::StoredRun>& runs) {
  std::string out = fmt::format(
      "<h1>History</h1>\n<p class=\"quiet\">{}; those in a chart evaluated the same graphs on "
      "the same hardware.</p>\n",
      counted(runs.size(), "run"));
  for (const auto& [key, of_series] : series_of(runs)) {
    const auto& [hardware, compiler, graphs] = key;
    std::vector<HistoryPoint> points;
    std::string rows;
    for (const store::StoredRun* run : of_series) {
      points.push_back({run->started, run->name, run->score});
      rows += render_run(board, *run);
    }
    const std::string title = fmt::format("{}, {}", hardware, compiler);
    out +=
        fmt::format("<h2>{} <small>{}</small></h2>\n", escape_html(title),
                    counted(static_cast<size_t>(of_series.back()->records), "record")) +
        render_history_chart(points, "Score of " + title) + "<div class=\"wide\"><table>\n" +
        render_head(
            {{"started", "", false}, {"run", "", false}, {"score"}, {"correct"}, {"speedup"}, {"PassNet", "", false}}) +
        "<tbody>\n" + rows + "</tbody></table></div>\n";
  }
  return out;
}

}  // namespace passnet::site
