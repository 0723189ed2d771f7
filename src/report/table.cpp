#include "report/table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/text/columns.h"
#include "base/text/strings.h"
#include "base/text/visible.h"
#include "record/score/score.h"
#include "report/row.h"
#include "report/summary.h"

namespace passnet::report {

namespace {

constexpr size_t kMinWidth = 60, kMinNameWidth = 22, kLeastNameWidth = 5, kMaxProblemLines = 14, kMaxNamesTold = 3;

enum class Style { Plain, Bold, Dim, Good, Doubtful, Bad };

std::string styled(std::string text, Style style, bool color) {
  static constexpr const char* kCodes[] = {"", "1", "2", "32", "33", "31"};
  if (!color || style == Style::Plain || text.empty()) return text;
  return fmt::format("\x1b[{}m{}\x1b[0m", kCodes[static_cast<size_t>(style)], text);
}

Style style_of(Tone tone) {
  switch (tone) {
    case Tone::Good: return Style::Good;
    case Tone::Neutral: return Style::Plain;
    case Tone::Doubtful: return Style::Doubtful;
    default: return Style::Bad;
  }
}

Style ratio_style(const Row& row) {
  if (row.disturbed) return Style::Doubtful;
  if (row.ratio == 0) return Style::Dim;  // a wrong graph is not fast
  if (!row.interval.known() || row.interval.contains(1)) return Style::Plain;
  return row.ratio > 1 ? Style::Good : Style::Bad;
}

/// Whatever stands in the table stands on one line and is fit to be shown.
struct Cell {
  explicit Cell(std::string_view of, Style in = Style::Plain) : text(visible_line(of)), style(in) {}
  std::string text;
  Style style;
};

struct Column {
  std::string title;  // as a Cell has it
  bool left = false;
  std::vector<Cell> cells;
  int dropped_at = 0;  // order in which columns go when the line gets too long; 0 stays

  size_t width() const {
    size_t widest = columns(Cell(title).text);
    for (const Cell& cell : cells) widest = std::max(widest, columns(cell.text));
    return widest;
  }
};

/// Decimals that suit the largest time of a column, so that points stand below each other.
int decimals_for(const std::vector<Row>& rows, record::Stats Row::*side) {
  double largest = 0;
  for (const Row& row : rows) largest = std::max(largest, (row.*side).median);
  return largest < 10 ? 2 : largest < 100'000 ? 1 : 0;
}

Column times_column(const char* title, const std::vector<Row>& rows, record::Stats Row::*side) {
  Column column{title, false, {}, 0};
  const int decimals = decimals_for(rows, side);
  for (const Row& row : rows) {
    column.cells.emplace_back(row.timed ? fmt::format("{:.{}f}", (row.*side).median, decimals) : "-", Style::Plain);
  }
  return column;
}

/// name: the first column, still as wide as its longest name.
std::vector<Column> columns_of(const std::vector<Row>& rows, bool several_samples) {
  const bool any_noisy = std::any_of(rows.begin(), rows.end(), [](const Row& row) { return row.noisy; });
  Column name{"graph", true, {}, 0}, verdict{"verdict", true, {}, 0}, ratio{"ratio", false, {}, 0};
  Column interval{"95 %", false, {}, 2}, noise{"noise", false, {}, 1}, rung{"from t", false, {}, 4},
      error{"max error", false, {}, 5};
  Column sites{"sites", false, {}, 3};
  if (any_noisy) ratio.title += " ";
  for (const Row& row : rows) {
    name.cells.emplace_back((several_samples ? "  " : "") + visible_line(row.graph), Style::Plain);
    verdict.cells.emplace_back(row.headline, style_of(row.tone));
    const std::string mark = any_noisy ? (row.noisy ? "~" : " ") : "";
    ratio.cells.emplace_back(speedup_text(row) + mark, ratio_style(row));
    interval.cells.emplace_back(interval_text(row), Style::Plain);
    noise.cells.emplace_back(row.timed ? fmt::format("{:.0f} %", 100 * row.noise) : "-",
                             row.noisy ? Style::Doubtful : Style::Plain);
    rung.cells.emplace_back(rung_text(row), Style::Plain);
    error.cells.emplace_back(error_text(row), Style::Plain);
    sites.cells.emplace_back(sites_text(row), Style::Plain);
  }
  std::vector<Column> table{std::move(name), std::move(verdict), std::move(ratio), std::move(interval)};
  if (const auto second =
          std::find_if(rows.begin(), rows.end(), [](const Row& row) { return row.second_candidate.has_value(); });
      second != rows.end()) {
    Column column{second->second_candidate->name, false, {}, 0};
    for (const Row& row : rows) column.cells.emplace_back(second_text(row), Style::Plain);
    table.push_back(std::move(column));
  }
  table.push_back(times_column("before us", rows, &Row::reference_us));
  table.push_back(times_column("after us", rows, &Row::candidate_us));
  for (Column* column : {&noise, &rung, &error, &sites}) table.push_back(std::move(*column));
  return table;
}

/// Width of everything but the first column, separators included.
size_t width_of_rest(const std::vector<Column>& table) {
  size_t width = 0;
  for (size_t i = 1; i < table.size(); ++i) width += 2 + table[i].width();
  return width;
}

/// Drops columns until a readable name fits, the last one only where a shortened name does not, then shortens names.
void fit(std::vector<Column>& table, size_t width) {
  const size_t wanted = std::min(table[0].width(), kMinNameWidth);
  for (int order = 1; order <= 5 && width_of_rest(table) + (order < 5 ? wanted : kLeastNameWidth) > width; ++order) {
    std::erase_if(table, [&](const Column& column) { return column.dropped_at == order; });
  }
  const size_t rest = width_of_rest(table);
  const size_t left = std::max<size_t>(width > rest ? width - rest : 0, kLeastNameWidth);
  for (Cell& cell : table[0].cells) cell.text = shorten_middle(cell.text, left);
}

std::string padded(const Cell& cell, const Column& column, bool last, bool color) {
  const std::string space(column.width() - columns(cell.text), ' ');
  const std::string text = styled(cell.text, cell.style, color);
  if (!column.left) return space + text;
  return last ? text : text + space;
}

std::string render_line(const std::vector<Column>& table, size_t line, bool color) {
  std::string out;
  for (size_t i = 0; i < table.size(); ++i) {
    const Cell cell = line == 0 ? Cell(table[i].title, Style::Bold) : table[i].cells[line - 1];
    out += (i ? "  " : "") + padded(cell, table[i], i + 1 == table.size(), color);
  }
  return out + '\n';
}

/// With several samples, each begins with a line of its own.
std::string render_lines(const std::vector<Column>& table, const std::vector<Row>& rows, bool several_samples,
                         size_t width, bool color) {
  std::string out = render_line(table, 0, color);
  for (size_t i = 0; i < rows.size(); ++i) {
    const bool new_sample = several_samples && (i == 0 || rows[i].sample != rows[i - 1].sample);
    if (new_sample) out += styled(shorten_middle(visible_line(rows[i].sample), width), Style::Bold, color) + '\n';
    out += render_line(table, i + 1, color);
  }
  return out;
}

/// A line for each other way in which calls were timed: the geometric mean over the graphs that have a ratio and count.
std::string render_other_tracks(const std::vector<Row>& rows) {
  std::vector<record::Track> tracks;
  std::vector<std::vector<double>> ratios;
  size_t counted = 0;
  for (const Row& row : rows) {
    if (row.ratio == 0 || row.unranked) continue;
    ++counted;
    for (const Row::OtherRatio& other : row.others) {
      const auto at = static_cast<size_t>(std::find(tracks.begin(), tracks.end(), other.track) - tracks.begin());
      if (at == tracks.size()) tracks.push_back(other.track), ratios.emplace_back();
      ratios[at].push_back(other.ratio);
    }
  }
  std::string out;
  for (size_t i = 0; i < tracks.size(); ++i) {
    const std::string part =
        ratios[i].size() < counted ? fmt::format(" ({} of {} graphs)", ratios[i].size(), counted) : "";
    out += fmt::format("{}: {}{}\n", describe(tracks[i]), ratio_text(record::geometric_mean(ratios[i])), part);
  }
  return out.empty() ? "" : "timed in other ways, which the score leaves out:\n" + out;
}

/// "KIND: 2 of 7, WHY"; nothing where no row is such.
std::string count_note(const char* kind, const std::vector<Row>& rows, bool Row::*is_such, std::string_view why) {
  const auto count = std::ranges::count(rows, true, is_such);
  return count > 0 ? fmt::format("{}: {} of {}, {}\n", kind, count, rows.size(), why) : "";
}

/// Returns what is said of the rows below the score, a line each.
std::string notes_text(const std::vector<Row>& rows, const record::Score& score, bool shows_sites) {
  std::string notes;
  if (const std::string controls = controls_text(rows); !controls.empty())
    notes += fmt::format("A/A control, the same graph on both sides: {}\n", controls);
  if (const std::string surplus = surplus_text(rows); !surplus.empty())
    notes += fmt::format("passes left out: {}\n", surplus);
  if (const std::string called = library_text(rows); !called.empty())
    notes += fmt::format("library calls: {}\n", called);
  notes += count_note("disturbed", rows, &Row::disturbed,
                      "other processes held the processors while it was timed; it has no speedup and counts in no "
                      "score; --resume measures it again");
  notes += count_note("unranked", rows, &Row::no_work,
                      "an answer that takes no work, or has an input built in, would pass too; it counts in no score");
  notes +=
      count_note("unranked", rows, &Row::host_code, "host code of the passes ran in Python; it counts in no score");
  notes += count_note("below floor", rows, &Row::below_floor,
                      "faster than this machine moves what the graph must move; it has no speedup and counts in no "
                      "score");
  notes += count_note("uneven", rows, &Row::uneven,
                      "far slower where inputs hold outliers; it has no speedup and counts in no score");
  notes += count_note("unranked", rows, &Row::unranked,
                      fmt::format("evaluated below the isolation level '{}'; it counts in no score",
                                  record::to_string(record::kRankedIsolation)));
  notes += count_note("~ noisy", rows, &Row::noisy,
                      fmt::format("quartiles more than {:.0f} % of the median apart; measure again when the machine "
                                  "is idle",
                                  100 * record::kNoisy));
  if (shows_sites && std::ranges::any_of(rows, [](const Row& row) { return row.declined > 0; }))
    notes += "sites a/b: b found, a replaced; the plan declined the others\n";
  if (std::ranges::find(rows, Tone::Neutral, &Row::tone) != rows.end())
    notes += "declined: the plan declined every site, so the graph is left as it was; it counts as 1x, unmeasured\n";
  if (!score.forms_agree) notes += "both forms of ES(t) disagree (docs/scoring.md)\n";
  return notes;
}

std::string render_footer(const std::vector<Row>& rows, const record::Score& score, const record::Summary& summary,
                          bool shows_sites, size_t width, bool color) {
  const Style style = score.correct == score.total ? Style::Good : Style::Bad;
  std::string out = styled(fmt::format("{} of {} correct", score.correct, score.total), style, color);
  out +=
      fmt::format(", geometric mean {}\n", styled(ratio_text(score.geomean_speedup.value_or(0)), Style::Bold, color));
  for (const std::string& line : wrap(reach_text(summary), width)) out += line + '\n';
  out += fmt::format("aggregated score {} (1 = eager, log10 {:+.4f})\n",
                     styled(fmt::format("{:.3f}", score.aggregated_linear), Style::Bold, color), score.aggregated);
  for (const std::string& text : {below_speedup_text(score), other_scores_text(summary, score)}) {
    if (text.empty()) continue;
    for (const std::string& line : wrap(text, width)) out += line + '\n';
  }
  out += render_other_tracks(rows);
  for (const std::string& line : wrap(std::string(trim(notes_text(rows, score, shows_sites))), width)) {
    if (!line.empty()) out += styled(line, Style::Dim, color) + '\n';
  }
  return out;
}

struct Problem {
  const Row* row;
  std::vector<std::string> names;
};

/// Failures with the same words told once, in the order of their first appearance.
std::vector<Problem> grouped_problems(const std::vector<Row>& rows) {
  std::vector<Problem> problems;
  for (const Row& row : rows) {
    if (row.verdict.correct_at(record::kCorrectT) && !row.below_floor && !row.uneven) continue;
    const auto same = std::find_if(problems.begin(), problems.end(), [&](const Problem& problem) {
      return problem.row->headline == row.headline && problem.row->problem == row.problem;
    });
    Problem& problem = same == problems.end() ? problems.emplace_back(Problem{&row, {}}) : *same;
    problem.names.push_back(visible_line(row.name));
  }
  return problems;
}

std::string render_problem(const Problem& problem, size_t width, bool color) {
  const size_t told = std::min(problem.names.size(), kMaxNamesTold);
  std::string title = join(std::span(problem.names).first(told), ", ");
  if (problem.names.size() > told) title += fmt::format(" and {} more", problem.names.size() - told);
  std::string out =
      fmt::format("\n{} in {}\n", styled(problem.row->headline, style_of(problem.row->tone), color), title);
  if (problem.row->problem.empty()) return out;
  const std::vector<std::string> lines = wrap(visible(problem.row->problem), width - 2);
  const size_t shown = lines.size() > kMaxProblemLines ? kMaxProblemLines - 1 : lines.size();
  for (size_t i = 0; i < shown; ++i) out += "  " + lines[i] + '\n';
  if (shown < lines.size()) {
    out +=
        "  " + styled(fmt::format("… {} more lines in records.jsonl", lines.size() - shown), Style::Dim, color) + '\n';
  }
  return out;
}

/// Where the time of a call goes: launches beside what a copy of their bytes takes, then what is outside the passes.
std::string render_profile(const Row& row, size_t width, bool color) {
  constexpr size_t kMostOthers = 5;
  const record::Profile& profile = *row.profile;
  std::string out =
      fmt::format("\n{}: {:.1f} us a call, with clocks around its parts\n",
                  styled("where the time goes, " + visible_line(row.name), Style::Bold, color), profile.call_us);
  double told_us = 0;
  for (const record::Profile::Launch& launch : profile.launches) {
    told_us += launch.us;
    out += fmt::format(
        "  {:8.2f} us  {} ({}.py:{}): {}, {:.1f} GB/s; a copy of as many bytes takes {:.2f} us, {:.0f} % of this\n",
        launch.us, visible_line(launch.kernel), visible_line(launch.pass), launch.line,
        bytes_text(static_cast<double>(launch.bytes)),
        launch.us > 0 ? static_cast<double>(launch.bytes) / launch.us / 1e3 : 0, launch.bound_us,
        launch.us > 0 ? 100 * launch.bound_us / launch.us : 0);
  }
  for (size_t i = 0; i < profile.others.size(); ++i) {
    told_us += profile.others[i].us;
    if (i < kMostOthers)
      out += fmt::format("  {:8.2f} us  {}\n", profile.others[i].us,
                         shorten_middle(visible_line(profile.others[i].statement), width - 15));
  }
  if (profile.others.size() > kMostOthers)
    out += fmt::format("  … and {} more operators\n", profile.others.size() - kMostOthers);
  return out +
         fmt::format("  {:8.2f} us  the rest: allocating, calling, clocks\n", std::max(0.0, profile.call_us - told_us));
}

}  // namespace

std::string render_table(const std::vector<record::RunRecord>& records, int width, bool color) {
  if (records.empty()) return "no graph was evaluated\n";
  const size_t usable = std::max(static_cast<size_t>(std::max(width, 0)), kMinWidth);
  const std::vector<Row> rows = rows_of(records);
  std::string out;
  for (const std::string& line : wrap(visible(conditions(records)), usable))
    out += styled(line, Style::Dim, color) + '\n';
  const bool several = has_several_samples(records);
  std::vector<Column> table = columns_of(rows, several);
  fit(table, usable);
  out += '\n' + render_lines(table, rows, several, usable, color);
  const bool shows_sites = table.back().title == "sites";
  out += '\n' + render_footer(rows, record::score(record::judge_all(records)), record::summary_of(records), shows_sites,
                              usable, color);
  for (const Problem& problem : grouped_problems(rows)) out += render_problem(problem, usable, color);
  for (const Row& row : rows) {
    if (row.profile) out += render_profile(row, usable, color);
  }
  return out;
}

}  // namespace passnet::report
